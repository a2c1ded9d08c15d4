import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { localStage } from "../../infra/local/dev-file.ts";

/**
 * The legacy systems by names in the city\'s network, as in a real stage. The functions\' network maps them to
 * addresses of this machine, so that all test cities share the same templates.
 */
export const upstream = {
  legacyAuthUrl: "http://legacy.city.example/auth/login.php",
  employeeSystemUrl: "http://simpeg.city.example",
};

/** Of the largest database: its throttles allow what the tests send at once from many files. */
const database = { kind: "aurora", maxCapacity: 256 };

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
      CDK_CONTEXT_JSON: JSON.stringify({
        ...{ ...context, stage: localStage, upstream, database },
        functionConcurrency: 0,
      }),
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
