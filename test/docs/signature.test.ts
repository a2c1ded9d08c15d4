import { expect, test } from "vitest";
import { MessageState } from "#lib/messaging/submission.ts";
import { changeType } from "#lib/messenger/callback/event.ts";
import { readSecretText, sign } from "#lib/messenger/callback/post.ts";
import { programs, runExample, shell } from "./program.ts";
import { getTabs } from "./tabs.ts";
import { readSignedEvent } from "./vector.ts";

const event = readSignedEvent();
const { SECRET, WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE, BODY } = event;

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

test.each([shell, ...programs])(
  "the example in $language accepts the guide's callback, during a rotation too, and no other",
  async (program) => {
    const text = program === shell ? tabs.shell : (tabs.others.get(program.language) ?? "");
    const verify = async (change: Partial<typeof event>) =>
      (await runExample(program, text, { ...event, ...change })).output;
    const other = `v1,${Buffer.alloc(32).toString("base64")}`;
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
  },
);
