import { parseArgs } from "node:util";
import { build } from "../../infra/build/build.ts";
import { printTable, writeResult } from "../bench/result.ts";
import { measureMemory } from "./memory.ts";

/**
 * Measures the memory of the messenger.
 *
 * @param args `--messages <n>`, `--recipients <n>`.
 */
const benchMemory = async (args: string[]) => {
  const { values } = parseArgs({
    args,
    options: {
      messages: { type: "string", default: "50000" },
      recipients: { type: "string", default: "500" },
    },
  });
  const [messages, recipients] = [Number(values.messages), Number(values.recipients)];
  await build();
  const uploads = { compressed: 30, plain: 120 };
  const { samples, ...peaks } = await measureMemory({ messages, recipients, steps: 10, uploads });
  printTable(samples.map((sample) => ({ ...sample })));
  console.log(JSON.stringify(peaks));
  writeResult(`memory-${recipients}`, { messages, recipients, ...peaks, samples });
};

await benchMemory(process.argv.slice(2));
// the platform library leaves timers behind
process.exit();
