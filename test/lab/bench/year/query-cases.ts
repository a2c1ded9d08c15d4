import { states } from "#lib/messaging/submission.ts";
import { listDepths, readQueue } from "#lib/messenger/outbox/depth.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { listMessages } from "#lib/messenger/outbox/list.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { loadHistory } from "#lib/messenger/send/history.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import type { Ground, Measurable } from "./groups.ts";
import { numbers } from "./message-data.ts";

const hourMs = 60 * 60_000;
const ages = { "": undefined, ", since an hour": hourMs, ", since 29 days": 29 * 24 * hourMs };

/** What senders ask, and what is counted for the operators. */
export async function* queryCases({ sql, sizes }: Ground): AsyncGenerator<Measurable> {
  const encryption = encryptionWith(secretTable["messenger-key"].mint());
  const query = { sender: "api:desk", limit: 100 };
  for (const state of [undefined, ...states])
    for (const [age, ms] of Object.entries(ages)) {
      const since = () => (ms === undefined ? {} : { since: new Date(Date.now() - ms).toISOString() });
      yield {
        name: `messages: ${state ?? "all states"}${age}`,
        run: () => listMessages(sql, encryption, { ...query, ...(state && { state }), ...since() }),
      };
    }
  yield {
    name: "messages: of a sender who has sent none",
    run: () => listMessages(sql, encryption, { ...query, sender: "api:nobody", state: "READ" }),
  };
  yield {
    name: "messages: state of one",
    run: (turn) => findState(sql, `M${(turn * 997) % sizes.messages}`, "api:desk"),
  };
  yield { name: "figures: the queue by state", run: () => listDepths(sql) };
  yield { name: "figures: ages in the queue and of callbacks", run: () => readQueue(sql) };
  yield {
    name: "send: what a number has sent, at a new connection",
    run: () => loadHistory(sql, numbers[1]),
  };
}
