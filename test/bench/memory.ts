import { build } from "../../infra/build/build.ts";
import { measureMemory } from "../faults/memory.ts";
import { printTable, type Result } from "./result.ts";

/**
 * Measures the memory of the messenger while it sends texts, and while uploads flood it.
 */
export const benchMemory = async ({
  messages,
  recipients,
}: {
  messages: number;
  recipients: number;
}): Promise<Result> => {
  await build();
  const uploads = { compressed: 30, plain: 120 };
  const onSample = (sample: object) => console.error(JSON.stringify(sample));
  const { samples, ...peaks } = await measureMemory({ messages, recipients, steps: 10, uploads, onSample });
  printTable(samples.map((sample) => ({ ...sample })));
  console.error(JSON.stringify(peaks));
  return { bench: `memory-${recipients}`, figures: { messages, recipients, ...peaks, samples } };
};
