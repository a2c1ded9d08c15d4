import { type Command, exitCodes, runCommand } from "../../infra/cli/command.ts";

/** The tools that few need, by what follows `npm run lab --`. Each has its own script or help. */
const tools: Readonly<Record<string, () => Promise<{ readonly run: Command }>>> = {
  chaos: () => import("./chaos/chaos.ts"),
  drill: () => import("./drill/drill.ts"),
  "platform-check": () => import("./platform-check/platform-check.ts"),
  "release-check": () => import("./release/release.ts"),
  screenshots: () => import("../browser/screenshots.ts"),
};

const run: Command = async ([name = "--help", ...args]) => {
  if (Object.hasOwn(tools, name)) return (await (tools[name] as (typeof tools)[string])()).run(args);
  const help = `Usage: npm run lab -- <tool> [options]\nTools: ${Object.keys(tools).join(", ")}`;
  if (["--help", "-h"].includes(name)) {
    console.log(help);
    return exitCodes.done;
  }
  console.error(`Unknown tool '${name}'.\n${help}`);
  return exitCodes.wrongCall;
};

await runCommand(run);
// the platform library leaves timers behind
process.exit();
