import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { localStage } from "../../../infra/local/dev-file.ts";

/**
 * The old systems by names of the city's network, as a stage would know them. Where they are on this machine is
 * told to the functions' network, so that the templates can be the same for every city that a test starts.
 */
export const upstream = {
  legacyAuthUrl: "http://legacy.city.example/auth/login.php",
  employeeSystemUrl: "http://simpeg.city.example",
};

/**
 * Synthesizes the application into a folder as the CDK's command line does, and builds every bundle by that.
 *
 * @throws Error with what the application printed, findings of its validation among it.
 */
export const synthesize = async (folder: string): Promise<void> => {
  const { app, context } = JSON.parse(readFileSync("cdk.json", "utf8"));
  const child = spawn(process.execPath, app.split(" ").slice(1), {
    env: {
      CDK_OUTDIR: folder,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage: localStage, upstream }),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  if (code !== 0) throw new Error(`the application does not synthesize:\n${stdout}${stderr}`);
};
