import { measureMemory } from "../chaos/memory.ts";
import { printTable, type Result } from "./result.ts";

/**
 * Measures the memory of the messenger while it sends texts, and while uploads flood it.
 */
export const benchMemory = async ({
  messages,
  recipients,
  uploads = { compressed: 30, plain: 120 },
}: {
  messages: number;
  recipients: number;
  uploads?: { compressed: number; plain: number };
}): Promise<Result> => {
  const onSample = (sample: object) => console.error(JSON.stringify(sample));
  const { samples, ...peaks } = await measureMemory({
    messages,
    recipients,
    steps: Math.min(10, messages),
    uploads,
    onSample,
  });
  printTable(samples.map((sample) => ({ ...sample })));
  console.error(JSON.stringify(peaks));
  return { bench: `memory-${recipients}`, figures: { messages, recipients, ...peaks, samples } };
};
