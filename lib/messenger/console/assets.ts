import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const read = (file: string | URL) => readFileSync(file, "utf8");
const own = (name: string) => read(new URL(`browser/${name}`, import.meta.url));

/*
 * What the browser loads, as text. In the bundle, which has no files beside it, the values stand in place of
 * this module (infra/build/build.ts, `inlineConsole`): Node imports no text without a flag.
 */
export const style = own("console.css");
export const script = own("console.js");
export const icon = own("icon.svg");
export const idiomorph = read(require.resolve("idiomorph/dist/idiomorph.esm.js"));
