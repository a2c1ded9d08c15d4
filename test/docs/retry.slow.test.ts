import type { ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { invented, withAddresses } from "#lib/openapi/addresses.ts";
import { serve } from "../steps/http-server.ts";
import { type Program, programs, runExample, shell } from "./program.ts";
import { getTabs } from "./tabs.ts";

type Answer = "none" | "cut off" | { readonly status: number; readonly retryAfter?: number };

const reply = (response: ServerResponse, answer: Answer) => {
  if (answer === "none") return;
  const { status, retryAfter } = answer === "cut off" ? { status: 200, retryAfter: undefined } : answer;
  const body = JSON.stringify(status === 200 ? { data: { id: "3EB0" } } : { message: "said" });
  if (retryAfter !== undefined) response.setHeader("Retry-After", retryAfter);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length });
  if (answer === "cut off") response.write(body.slice(0, 9), () => response.destroy());
  else response.end(body);
};

/** What is sent; a form without its boundary, which may differ. */
const readContent = (type: string, body: Buffer): string => {
  const [, boundary] = /boundary="?([^";]+)/.exec(type) ?? [];
  const content = body.toString("latin1");
  return boundary ? content.replaceAll(boundary, "boundary") : content;
};

const accepted = { status: 200 };
type Kind = "message" | "image";

/** @returns the address of an API that gives these answers, and the requests of a kind that it gets. Others are accepted. */
const serveAnswers = async (kind: Kind, answers: readonly Answer[]) => {
  const requests: { key: unknown; content: string }[] = [];
  const address = await serve(async (request, response) => {
    const content = readContent(request.headers["content-type"] ?? "", await buffer(request));
    if (request.url !== `/send/${kind}`) return reply(response, accepted);
    const answer = answers[requests.length] ?? "none";
    requests.push({ key: request.headers["idempotency-key"], content });
    reply(response, answer);
  });
  return { address, requests };
};

const tabs = getTabs("sending", "retry");
const picture = "the bytes of a picture";

/** The times in the examples that no test waits for, and shorter ones. */
const times: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  sh: [[/--max-time 30\b/g, "--max-time 1 --retry-delay 1"]],
  ts: [
    [/timeout\(30_000\)/g, "timeout(1_000)"],
    [/delayMs = 1_000\b/g, "delayMs = 10"],
  ],
  python: [
    [/timeout=30\b/g, "timeout=1"],
    [/delay = 1$/gm, "delay = 0.01"],
  ],
};
/** So that the first delay is too long. */
const impatience: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  ts: [[/patienceMs = 600_000\b/g, "patienceMs = 0"]],
  python: [[/PATIENCE = 600\b/g, "PATIENCE = 0"]],
};

const withTimes = ({ language }: Program, example: string, changes: typeof times): string =>
  (changes[language] ?? []).reduce((changed, [pattern, shorter]) => {
    const shortened = changed.replaceAll(pattern, shorter);
    if (shortened === changed) throw new Error(`the example in ${language} has no ${pattern}`);
    return shortened;
  }, example);

interface Course {
  readonly kind?: Kind;
  readonly isImpatient?: boolean;
}

const send = async (program: Program, answers: readonly Answer[], course: Course) => {
  const { address, requests } = await serveAnswers(course.kind ?? "message", answers);
  const example =
    program === shell ? `MSG=${invented.messaging}\n${tabs.shell}` : tabs.others.get(program.language);
  const addressed = withAddresses(example ?? "", { integration: address, messaging: address });
  const short = withTimes(program, addressed, times);
  const timed = course.isImpatient ? withTimes(program, short, impatience) : short;
  const env = { AUTH: "a:b", PHONE: "6281200000001" };
  const { output, errors } = await runExample(program, timed, env, { "receipt.png": picture });
  return { language: program.language, answers, output, errors, requests };
};

/** Sends with the example of each language at once: each waits for seconds. */
const sendWithAll = (answersOf: (program: Program) => readonly Answer[], course: Course = {}) =>
  Promise.all([shell, ...programs].map((program) => send(program, answersOf(program), course)));

test("the examples repeat the same request with the same key until it is answered whole", async () => {
  const ends = await sendWithAll((program) => [
    "cut off",
    "none",
    { status: 504 },
    { status: 503, retryAfter: 1 },
    { status: 429, retryAfter: 1 },
    // the guide says that curl does not repeat it
    ...(program === shell ? [] : [{ status: 409, retryAfter: 1 }]),
    accepted,
  ]);
  const body = { phone: "6281200000001", message: "Pembayaran *diterima*" };
  for (const { language, answers, output, requests } of ends) {
    expect([language, output]).toEqual([language, expect.stringContaining("3EB0")]);
    const sent = requests.map(({ key, content }) => ({ key, body: JSON.parse(content) }));
    expect([language, sent]).toEqual([language, answers.map(() => ({ key: "receipt-2025-000124", body }))]);
  }
});

test("the examples repeat an image whole, with the same key", async () => {
  const ends = await sendWithAll(() => [{ status: 503 }, "cut off", accepted], { kind: "image" });
  for (const { language, answers, requests } of ends) {
    const [first] = requests;
    expect([language, first]).toEqual([
      language,
      { key: "receipt-2025-000124-image", content: expect.stringContaining(picture) },
    ]);
    expect([language, requests]).toEqual([language, answers.map(() => first)]);
  }
});

test("the examples do not repeat a wrong request, and show what is wrong", async () => {
  for (const { language, output, requests } of await sendWithAll(() => [{ status: 400 }, accepted]))
    expect([language, requests.length, output]).toEqual([language, 1, expect.stringContaining("said")]);
});

test("the examples end when Retry-After is longer than their patience, and say when to try again", async () => {
  const ends = await sendWithAll(() => [{ status: 429, retryAfter: 40_000 }, accepted]);
  for (const { language, requests, errors } of ends) {
    expect([language, requests.length]).toEqual([language, 1]);
    if (language !== shell.language)
      expect([language, errors]).toEqual([
        language,
        expect.stringMatching(/not sent: 429, try again after 4000\d s/),
      ]);
  }
});

test.each([
  ["cut off", "no answer"],
  ["none", "no answer"],
  [{ status: 504 }, "504"],
] as const)(
  "the examples say that a message may have been accepted when the answer is: %j",
  async (answer, shown) => {
    const ends = await Promise.all(programs.map((program) => send(program, [answer], { isImpatient: true })));
    for (const { language, errors } of ends)
      expect([language, errors]).toEqual([
        language,
        expect.stringContaining(`it may have been accepted: ${shown}, try again after 1 s`),
      ]);
  },
);
