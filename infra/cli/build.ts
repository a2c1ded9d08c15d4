import { build } from "../build/build.ts";
import { command, runCommand } from "./command.ts";

export const run = command(
  "build",
  "Build the functions, the messenger and the documentation.",
  (program, answer) => {
    program.action(
      answer(async () => {
        const bundles = Object.entries(await build()).filter(([file]) => file.endsWith(".mjs"));
        const lines = bundles.map(([file, bytes]) => `${(bytes / 1024).toFixed(0).padStart(5)} KB  ${file}`);
        return { text: lines.join("\n"), json: { bytes: Object.fromEntries(bundles) } };
      }),
    );
  },
);

if (import.meta.main) await runCommand(run);
