import { expect, test, vi } from "vitest";
import { MessageState } from "#lib/messaging/submission.ts";
import { changeType } from "#lib/messenger/callback/event.ts";
import { readSecretText, sign } from "#lib/messenger/callback/post.ts";
import { findPort } from "../../infra/local/loopback.ts";
import { type Program, programs, runExample, shell, startExample } from "./program.ts";
import { getTabs } from "./tabs.ts";
import { readSignedEvent } from "./vector.ts";

const event = readSignedEvent();
const { SECRET, WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE, BODY } = event;
const other = `v1,${Buffer.alloc(32).toString("base64")}`;

test("the callback in the guide to sending is signed as the product signs it", () => {
  expect(sign([readSecretText(SECRET)], WEBHOOK_ID, Number(WEBHOOK_TIMESTAMP), BODY)).toEqual({
    "webhook-id": WEBHOOK_ID,
    "webhook-timestamp": WEBHOOK_TIMESTAMP,
    "webhook-signature": WEBHOOK_SIGNATURE,
  });
});

test("the callback in the guide to sending has the body of a change", () => {
  const { type, timestamp, data, ...rest } = JSON.parse(BODY);
  expect([type, timestamp, rest]).toEqual([changeType, data.changed_at, {}]);
  expect(MessageState.parse(data)).toEqual(data);
});

const tabs = getTabs("sending", "signature");

test("the example in the shell accepts the guide's callback, during a rotation too, and no other", async () => {
  const verify = async (change: Partial<typeof event>) =>
    (await runExample(shell, tabs.shell, { ...event, ...change })).output;
  const answers = await Promise.all(
    [
      {},
      { WEBHOOK_SIGNATURE: `${other} ${WEBHOOK_SIGNATURE}` },
      { WEBHOOK_SIGNATURE: other },
      { BODY: `${BODY} ` },
      { WEBHOOK_ID: `${WEBHOOK_ID}0` },
      { SECRET: `whsec_${Buffer.alloc(32).toString("base64")}` },
    ].map(verify),
  );
  expect(answers).toEqual(["true", "true", "false", "false", "false", "false"]);
});

/** Starts the receiver of a language. @returns how to call it, and what it has printed. */
const startReceiver = async (program: Program) => {
  const port = await findPort();
  const example = (tabs.others.get(program.language) ?? "").replace(/\b4000\b/, String(port));
  const child = startExample(program, example, { SECRET });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    printed += text;
  });
  const post = async (headers: Record<string, string>, body = BODY): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/messages`, { method: "POST", headers, body })).status;
  await vi.waitUntil(() => post({}).catch(() => undefined), { timeout: 60_000, interval: 100 });
  return { post, printed: () => printed };
};

const seconds = (offset = 0): number => Math.floor(Date.now() / 1_000) + offset;
const signed = (id: string, at = seconds(), body = BODY) => sign([readSecretText(SECRET)], id, at, body);

test.each(programs)(
  "the receiver in $language answers 401 to what the product has not signed now",
  async (program) => {
    const { post, printed } = await startReceiver(program);
    const headers = signed("evt_1");
    const { "webhook-signature": signature = "", ...unsigned } = headers;
    const timeless = { "webhook-id": "evt_1", "webhook-signature": signature };
    const answers = await Promise.all([
      post({}),
      post(unsigned),
      post(timeless),
      post({ ...headers, "webhook-signature": other }),
      post({ ...headers, "webhook-id": "evt_2" }),
      post(headers, `${BODY} `),
      post(signed("evt_1", seconds(-310))),
      post(signed("evt_1", seconds(310))),
      // the signature is right, although the time is no number
      post(sign([readSecretText(SECRET)], "evt_1", "soon" as unknown as number, BODY)),
      post(sign([readSecretText(SECRET)], "evt_1", "9".repeat(5_000) as unknown as number, BODY)),
    ]);
    expect(answers).toEqual(Array(10).fill(401));
    expect(printed()).toBe("");
  },
);

test.each(programs)(
  "the receiver in $language works once on each callback, also one of a rotation, and answers 204 to repeated ones",
  async (program) => {
    const { post, printed } = await startReceiver(program);
    const test = JSON.stringify({ type: "test", timestamp: new Date().toISOString(), data: {} });
    const last = BODY.replace("DELIVERED", "READ");
    const rotated = signed("evt_2", seconds(), last);
    const answers = [
      await post(signed("evt_1")),
      await post(signed("evt_1")),
      await post(signed("evt_3", seconds(), test), test),
      await post({ ...rotated, "webhook-signature": `${other} ${rotated["webhook-signature"]}` }, last),
    ];
    expect(answers).toEqual(Array(4).fill(204));
    await expect.poll(printed).toContain("READ\n");
    const { id } = JSON.parse(BODY).data;
    expect(printed()).toBe(`${id} DELIVERED\n${id} READ\n`);
  },
);
