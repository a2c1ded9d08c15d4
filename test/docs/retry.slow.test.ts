import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { invented, withAddresses } from "#lib/openapi/addresses.ts";
import { serve } from "../steps/http-server.ts";
import { type Program, programs, runExample, shell } from "./program.ts";
import { getTabs } from "./tabs.ts";

/** One answer; undefined: none. */
type Answer = { readonly status: number; readonly retryAfter?: number } | undefined;

const reply = (response: ServerResponse, { status, retryAfter }: NonNullable<Answer>) => {
  if (retryAfter !== undefined) response.setHeader("Retry-After", retryAfter);
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ status: status === 200, data: { id: "3EB0" }, message: "said" }));
};

/** @returns the address of an API that gives these answers, and the requests that it gets. */
const serveAnswers = async (answers: readonly Answer[]) => {
  const requests: { key: unknown; body: unknown }[] = [];
  const address = await serve(async (request, response) => {
    const answer = answers[requests.length];
    requests.push({ key: request.headers["idempotency-key"], body: JSON.parse(await text(request)) });
    if (answer) reply(response, answer);
  });
  return { address, requests };
};

const tabs = getTabs("sending", "retry");
/** The timeout, which no test waits for. */
const timeouts = [
  [/--max-time 30\b/, "--max-time 1"],
  [/timeout\(30_000\)/, "timeout(1_000)"],
  [/timeout=30\b/, "timeout=1"],
] as const;

const withShortTimeout = (example: string): string => {
  const [found] = timeouts.filter(([pattern]) => pattern.test(example));
  if (!found) throw new Error("the example has no timeout of 30 seconds");
  return example.replace(found[0], found[1]);
};

const send = async (program: Program, answers: readonly Answer[]) => {
  const { address, requests } = await serveAnswers(answers);
  const example =
    program === shell ? `MSG=${invented.messaging}\n${tabs.shell}` : tabs.others.get(program.language);
  const addressed = withAddresses(example ?? "", { integration: address, messaging: address });
  const env = { AUTH: "a:b", PHONE: "6281200000001" };
  const { output } = await runExample(program, withShortTimeout(addressed), env);
  return { output, requests };
};

/** Sends with the example of each language at once: each waits for seconds. */
const sendWithAll = (answersOf: (program: Program) => readonly Answer[]) =>
  Promise.all(
    [shell, ...programs].map(async (program) => {
      const answers = answersOf(program);
      return { language: program.language, answers, ...(await send(program, answers)) };
    }),
  );

test("the examples repeat the same request with the same key until it is answered", async () => {
  const ends = await sendWithAll((program) => [
    undefined,
    { status: 504 },
    { status: 503, retryAfter: 1 },
    { status: 429, retryAfter: 1 },
    // the guide says that curl does not repeat it
    ...(program === shell ? [] : [{ status: 409, retryAfter: 1 }]),
    { status: 200 },
  ]);
  const body = { phone: "6281200000001", message: "Pembayaran *diterima*" };
  const request = { key: "receipt-2025-000124", body };
  for (const { language, answers, output, requests } of ends) {
    expect([language, output]).toEqual([language, expect.stringContaining("3EB0")]);
    expect([language, requests]).toEqual([language, answers.map(() => request)]);
  }
});

test("the examples do not repeat a wrong request, and show what is wrong", async () => {
  for (const { language, output, requests } of await sendWithAll(() => [{ status: 400 }, { status: 200 }]))
    expect([language, requests.length, output]).toEqual([language, 1, expect.stringContaining("said")]);
});

test("the examples end when Retry-After is longer than their patience", async () => {
  const answers = [{ status: 429, retryAfter: 40_000 }, { status: 200 }];
  for (const { language, requests } of await sendWithAll(() => answers))
    expect([language, requests.length]).toEqual([language, 1]);
});
