import { Submission } from "#lib/messaging/submission.ts";
import { Quota } from "#lib/messenger/accept/quota.ts";
import { cancel } from "#lib/messenger/outbox/cancel.ts";
import {
  digestClaim,
  getClaimedMessage,
  releaseClaim,
  takeClaim,
} from "#lib/messenger/outbox/idempotency.ts";
import { discardMedia, storeMedia } from "#lib/messenger/outbox/media.ts";
import { storeMessages, storeOnce } from "#lib/messenger/outbox/store.ts";
import { isOptedOut } from "#lib/notification/opt-out.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import type { Ground, Measurable } from "./groups.ts";
import { withoutEffect } from "./measure.ts";
import { phoneOf } from "./message-data.ts";

const batch = 200;

/** What accepts a message. What is stored is rolled back, so that the others find what was loaded. */
export async function* acceptCases({ owner, sql, parts }: Ground): AsyncGenerator<Measurable> {
  const pepper = await digestTerm();
  const quota = new Quota(sql, 1_000_000, 0);
  const submission = (n: number) =>
    Submission.parse({
      ...{ sender: `api:${n % 2 === 0 ? "desk" : "tax"}`, kind: "text", text: "Antrean A12 di loket 3" },
      ...{ phone: phoneOf((n * 101) % parts.persons), idempotency_key: `key-${n}` },
    });
  let made = 0;
  const message = () => ({ id: `N${made}`, submission: submission(made++), mediaId: null });
  const claimed = () => {
    const one = message();
    return { ...one, claim: digestClaim(`key-${made}`, one.submission, undefined) };
  };
  yield { name: "accept: room of a sender", run: (turn) => quota.take(submission(turn), 100) };
  yield {
    name: "accept: whether a number has opted out",
    run: (turn) => isOptedOut(sql, pepper, phoneOf(turn)),
  };
  yield withoutEffect(sql, {
    name: "accept: store one",
    run: (inside) => storeMessages(inside, [message()]),
  });
  yield withoutEffect(sql, {
    name: "accept: store one with its key",
    run: (inside) => storeOnce(inside, [claimed()]),
  });
  yield withoutEffect(sql, {
    name: "accept: store 200",
    run: (inside) => storeMessages(inside, Array.from({ length: batch }, message)),
  });
  yield withoutEffect(sql, {
    name: "accept: store 200 with their keys",
    run: (inside) => storeOnce(inside, Array.from({ length: batch }, claimed)),
  });
  const claim = (turn: number) => digestClaim(`media-${turn}`, submission(turn), undefined);
  yield {
    name: "accept: claim a key and release it",
    run: async (turn) => {
      const held = await takeClaim(sql, claim(turn));
      if (!held) throw new Error("the key is in use");
      await releaseClaim(sql, held);
    },
  };
  const [used] = await owner<{ key: Buffer; payload: Buffer }[]>`
    select key_digest as key, payload_digest as payload from messaging.idempotency where message_id is not null limit 1`;
  if (used)
    yield {
      name: "accept: first message of a key",
      run: () => getClaimedMessage(sql, { keyDigest: used.key, payloadDigest: used.payload }),
    };
  async function* source() {
    yield Buffer.alloc(50_000);
  }
  yield {
    name: "accept: store and delete a file of 50 KB",
    run: async () => {
      const info = { contentType: "image/jpeg", fileName: undefined };
      const { id } = await storeMedia(sql, "api:desk", info, source());
      await discardMedia(sql, id);
    },
  };
  const waiting = await owner<{ id: string; sender: string }[]>`
    select id, sender from messaging.message where is_open and state = 'PENDING' and attempts = 0 limit 100`;
  yield withoutEffect(sql, {
    name: "messages: cancel one",
    run: (inside, turn) => {
      const { id = "", sender = "" } = waiting[turn % waiting.length] ?? {};
      return cancel(inside, id, sender);
    },
  });
}
