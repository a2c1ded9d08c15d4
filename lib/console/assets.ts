import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const read = (file: string | URL) => readFileSync(file, "utf8");
const own = (name: string) => read(new URL(`browser/${name}`, import.meta.url));

/*
 * The files that the browser loads. In the bundle, infra/build/build.ts (`inlineConsole`) replaces this module by their
 * text, because Node cannot import text without a flag.
 */
/** In the order of the cascade. */
export const style = ["console.css", "sections.css", "forms.css"].map(own).join("\n");
export const script = own("console.js");
export const icon = own("icon.svg");
export const idiomorph = read(require.resolve("idiomorph/dist/idiomorph.esm.js"));
