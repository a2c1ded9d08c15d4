import { expect, test } from "vitest";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  eventually,
  phone,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  submit,
  untilOpen,
} from "../../fleet/running-task.ts";
import { expectShown, isRead, isRejected } from "./expect-shown.ts";

stageEachTest();

const read = { receipts: ["delivered", "read"] } satisfies FailureModes;
/** Whether each frame of a message went to a LID or to a number. */
const kindsOf = (id: string) => platform.addressesOf(id).map((jid) => jid.split("@")[1]);
const [lid, number] = ["lid", "s.whatsapp.net"];

/** The failure modes before each message, and the addresses of its frames; all messages are read. */
const rows: readonly [string, readonly [FailureModes, readonly string[]][]][] = [
  ["the LID is used where both addresses reach a contact", [[{}, [lid]]]],
  [
    "the LID alone is used where numbers are rejected and have no devices",
    [[{ contacts: { reachedBy: "lid" } }, [lid]]],
  ],
  [
    "the number is used under the same id where the account may not use LIDs, and first from then on",
    [
      [{ contacts: { reachedBy: "number" } }, [lid, number]],
      [{ contacts: { reachedBy: "number" } }, [number]],
    ],
  ],
  [
    "LIDs are used again once the account may use them",
    [
      [{ contacts: { reachedBy: "number" } }, [lid, number]],
      [{ contacts: { reachedBy: "lid" } }, [number, lid]],
      [{}, [lid]],
    ],
  ],
  [
    "receipts from the contact's other address count",
    [
      [{ contacts: { receiptsFrom: "other" } }, [lid]],
      [{ contacts: { receiptsFrom: "other", reachedBy: "number" } }, [lid, number]],
    ],
  ],
  [
    "a phone that asks again from its other address gets the message there",
    [
      [{ contacts: { receiptsFrom: "other" }, askAgain: 1 }, [lid, number]],
      [{ contacts: { receiptsFrom: "other", reachedBy: "number" } }, [lid, number]],
      [{ contacts: { receiptsFrom: "other" }, askAgain: 1 }, [number, lid]],
    ],
  ],
];
test.each(rows)("%s", async (_, messages) => {
  const task = await startOpen();
  for (const [index, [failureMode, addresses]] of messages.entries()) {
    platform.behave({ ...read, ...failureMode });
    const { id } = await submit(task, {});
    await expectShown(task, id, isRead(addresses.length, { sent: index + 1 }));
    expect(kindsOf(id)).toEqual(addresses);
  }
  expect(platform.phone(phone).inbox).toHaveLength(messages.length);
  // the account's own phone shows what was sent
  expect([platform.account.inbox.length, platform.account.failures]).toEqual([messages.length, []]);
});

test("a contact's new LID, which an ack announces, is the address of the next message, whose devices are queried", async () => {
  const task = await startOpen();
  await eventually(task, (await submit(task, {})).id, "READ");
  const former = platform.phone(phone).lid;
  platform.changeLid(phone);
  const { lid: latter, queries } = platform.phone(phone);
  const addresses: unknown[] = [];
  for (const _ of [1, 2]) {
    const before = queries.devices;
    const { id } = await submit(task, {});
    await eventually(task, id, "READ");
    addresses.push([...platform.addressesOf(id), queries.devices > before]);
  }
  expect(addresses).toEqual([
    [`${former}@lid`, false],
    [`${latter}@lid`, true],
  ]);
  expect(platform.phone(phone).inbox).toHaveLength(3);
});

test("463 by either address is final, with one frame to each", async () => {
  const task = await startOpen();
  platform.behave({ contacts: { reachedBy: "number" }, receipts: [] });
  await eventually(task, (await submit(task, {})).id, "SENT");
  // 400 by LID says nothing that 463 by number does not
  platform.behave({ contacts: { reachedBy: "number" }, tokens: { theirs: true } });
  const { id } = await submit(task, {});
  await expectShown(task, id, isRejected(2));
  expect(kindsOf(id)).toEqual([number, lid]);
});

test("463 by one address counts although the send to the other fails before it leaves", async () => {
  const task = await startOpen();
  const friend = platform.register("6281200000002").number;
  platform.behave({ ...read, contacts: { reachedBy: "number" } });
  // from now on numbers are sent to first
  await eventually(task, (await submit(task, { phone: friend })).id, "READ");
  platform.behave({ nack: { code: 463, to: phone }, ackDelayMs: 1_000 });
  const { id } = await submit(task, {});
  await platform.until(() => platform.arrivalsOf(id) === 1);
  // the devices of the LID have not been queried yet
  platform.behave({ failDirectory: true });
  const stored = async () => (await sql`select state, rejections from messaging.message where id = ${id}`)[0];
  await expect.poll(stored).toEqual({ state: "PENDING", rejections: { pause: 1, code: 463 } });
  await expectShown(task, id, isRejected(1));
  expect(kindsOf(id)).toEqual([number]);
});

test("400 by LID does not fail a message when the platform does not answer for its number", async () => {
  const task = await startOpen();
  const friend = platform.register("6281200000002").number;
  await eventually(task, (await submit(task, { phone: friend })).id, "READ");
  platform.behave({ ...read, contacts: { reachedBy: "number" }, ackDelayMs: 1_000 });
  const { id } = await submit(task, {});
  await platform.until(() => platform.arrivalsOf(id) === 1);
  // the devices of the number have not been queried yet
  platform.behave({ contacts: { reachedBy: "number" }, failDirectory: true });
  const rejections = async () =>
    (await sql`select rejections from messaging.message where id = ${id}`)[0]?.rejections;
  await expect.poll(rejections).toHaveProperty("directory");
  platform.behave({ ...read, contacts: { reachedBy: "number" } });
  await eventually(task, id, "READ");
  expect([kindsOf(id)[0], kindsOf(id).at(-1)]).toEqual([lid, number]);
});

test("a number whose LID the platform does not give is sent to by number, also after its keys have changed", async () => {
  const task = await startOpen();
  const contacts = { withoutLid: [phone], reachedBy: "number" as const };
  platform.behave({ ...read, contacts });
  const first = await submit(task, {});
  await eventually(task, first.id, "READ");
  platform.behave({ ...read, contacts, stale: { code: 479 } });
  const second = await submit(task, {});
  await expectShown(task, second.id, isRead(2, { sent: 2, retried: 1 }));
  expect([first, second].map(({ id }) => kindsOf(id))).toEqual([[number], [number, number]]);
  expect(platform.phone(phone).inbox).toHaveLength(2);
});

test("a number without a LID is asked for it once, so that it is reached while the platform does not answer", async () => {
  const task = await startOpen();
  const contacts = { withoutLid: [phone], reachedBy: "number" as const };
  platform.behave({ ...read, contacts });
  await eventually(task, (await submit(task, {})).id, "READ");
  platform.behave({ ...read, contacts, failDirectory: true });
  await expectShown(task, (await submit(task, {})).id, isRead(1, { sent: 2 }));
});

test("a number without devices waits longer each time, then fails; others go ahead, and a code expires", async () => {
  const [code, hopeless] = ["6281200000002", "6281200000003"];
  for (const each of [code, hopeless]) platform.register(each);
  platform.behave({ ...read, contacts: { withoutDevices: [phone, code, hopeless] } });
  const task = await start();
  const ids = {
    waiting: (await submit(task, {})).id,
    code: (await submit(task, { phone: code, class: "one-time-code", expires_in_seconds: 3_600 })).id,
    hopeless: (await submit(task, { phone: hopeless })).id,
    other: (await submit(task, { phone: platform.register("6281200000004").number })).id,
  };
  // the next wait is long, or none is left
  await sql`update messaging.message set attempts = 3, failed_early = 3 where id = ${ids.waiting}`;
  await sql`update messaging.message set attempts = 4, failed_early = 4 where id = ${ids.hopeless}`;
  await untilOpen(task);
  await eventually(task, ids.other, "READ");
  await eventually(task, ids.hopeless, "FAILED");
  await expect
    .poll(
      () => sql`
        select attempts, round(extract(epoch from not_before - changed_at))::int as seconds
        from messaging.message where state = 'PENDING' order by seq`,
    )
    .toEqual([
      { attempts: 4, seconds: 40 },
      { attempts: 1, seconds: 5 },
    ]);
  await sql`update messaging.message set expires_at = now() where id = ${ids.code}`;
  await eventually(task, ids.code, "EXPIRED");
  expect(Object.values(ids).map((id) => platform.arrivalsOf(id))).toEqual([0, 0, 0, 1]);
  await expectShown(task, ids.hopeless, {
    status: "FAILED",
    frames: 0,
    reason: /names no device of the number that can receive messages/,
    metrics: { sent: 1, failed: 1, retried: 2 },
  });
});

test.each([
  ["a Brazilian one without its ninth digit", "5584912345678", "558412345678"],
  ["a Mexican one with a 1", "525512345678", "5215512345678"],
  ["an Argentine one with a 9", "541123456789", "5491123456789"],
])(
  "a number that the platform writes otherwise, %s, is stored and used as the platform writes it",
  async (...row) => {
    const [, asked, canonical] = row;
    platform.register(canonical);
    const task = await startOpen();
    for (const [sent, failureMode, addresses] of [
      [1, {}, [lid]],
      [2, { reachedBy: "number" }, [lid, number]],
    ] as const) {
      platform.behave({ ...read, contacts: { ...failureMode, canonical: { [asked]: canonical } } });
      const { id } = await submit(task, { phone: asked });
      await expectShown(task, id, isRead(addresses.length, { sent }));
      expect(kindsOf(id)).toEqual(addresses);
      expect(platform.phone(canonical).find(id)).toBeDefined();
    }
    expect(await sql`select phone, address from messaging.number_check`).toEqual([
      { phone: asked, address: `${canonical}@s.whatsapp.net` },
    ]);
  },
);
