import { type Command, exitCodes, runCommand } from "../../infra/cli/command.ts";

/** The tools that few need, by what follows `npm run lab --`. Each has its own script or help. */
const tools: Readonly<Record<string, () => Promise<{ readonly run: Command }>>> = {
  chaos: () => import("./chaos/chaos.ts"),
  drill: () => import("./drill/drill.ts"),
  "platform-check": () => import("./platform-check/platform-check.ts"),
  "release-check": () => import("./release/release.ts"),
  screenshots: () => import("../browser/screenshots.ts"),
};

const run: Command = async ([name = "", ...args]) => {
  if (Object.hasOwn(tools, name)) return (await (tools[name] as (typeof tools)[string])()).run(args);
  console.error(`Usage: npm run lab -- <tool> [options]\nTools: ${Object.keys(tools).join(", ")}`);
  return exitCodes.wrongCall;
};

await runCommand(run);
// the platform library leaves timers behind
process.exit();
