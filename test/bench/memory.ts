import { parseArgs } from "node:util";
import { build } from "../../infra/build/build.ts";
import { measureMemory } from "../faults/memory.ts";
import { printTable, writeResult } from "./result.ts";

/**
 * Measures the memory of the messenger while it sends texts, and while uploads flood it.
 *
 * @param args `--messages <n>`, `--recipients <n>`.
 */
export const benchMemory = async (args: string[]) => {
  const { values } = parseArgs({
    args,
    options: {
      messages: { type: "string", default: "50000" },
      recipients: { type: "string", default: "5000" },
    },
  });
  const [messages, recipients] = [Number(values.messages), Number(values.recipients)];
  await build();
  const uploads = { compressed: 30, plain: 120 };
  const onSample = (sample: object) => console.log(JSON.stringify(sample));
  const { samples, ...peaks } = await measureMemory({ messages, recipients, steps: 10, uploads, onSample });
  printTable(samples.map((sample) => ({ ...sample })));
  console.log(JSON.stringify(peaks));
  writeResult(`memory-${recipients}`, { messages, recipients, ...peaks, samples });
};
