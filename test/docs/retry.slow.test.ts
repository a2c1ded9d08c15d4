import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { invented, withAddresses } from "#lib/openapi/addresses.ts";
import { serve } from "../steps/http-server.ts";
import { programs, runExample, shell } from "./program.ts";
import { getTabs } from "./tabs.ts";

/** One answer; undefined: none. */
type Answer = { readonly status: number; readonly retryAfter?: number } | undefined;

const accepted: Answer = { status: 200 };

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

const send = async (program: (typeof programs)[number], answers: readonly Answer[]) => {
  const { address, requests } = await serveAnswers(answers);
  const example =
    program === shell ? `MSG=${invented.messaging}\n${tabs.shell}` : tabs.others.get(program.language);
  const addressed = withAddresses(example ?? "", { integration: address, messaging: address });
  const env = { AUTH: "a:b", PHONE: "6281200000001" };
  const { output } = await runExample(program, withShortTimeout(addressed), env);
  return { output, requests };
};

const all = [shell, ...programs];

test.concurrent.each(all)(
  "the example in $language repeats the same request with the same key until it is answered",
  async (program) => {
    const answers: Answer[] = [
      undefined,
      { status: 504 },
      { status: 503, retryAfter: 1 },
      { status: 429, retryAfter: 1 },
      ...(program === shell ? [] : [{ status: 409, retryAfter: 1 }]),
      accepted,
    ];
    const { output, requests } = await send(program, answers);
    expect(output).toContain("3EB0");
    expect(requests).toHaveLength(answers.length);
    expect(new Set(requests.map(({ key }) => key))).toEqual(new Set(["receipt-2025-000124"]));
    for (const { body } of requests)
      expect(body).toEqual({ phone: "6281200000001", message: "Pembayaran *diterima*" });
  },
);

test.concurrent.each(all)(
  "the example in $language does not repeat a request that is wrong, nor one of tomorrow",
  async (program) => {
    const wrong = await send(program, [{ status: 400 }, accepted]);
    expect([wrong.requests.length, wrong.output]).toEqual([1, expect.stringContaining("said")]);
    const tomorrow = await send(program, [{ status: 429, retryAfter: 40_000 }, accepted]);
    expect(tomorrow.requests).toHaveLength(1);
  },
);
