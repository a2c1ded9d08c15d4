import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { templates } from "#lib/notification/templates.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { playAudience, scheduledNow, showRecipients } from "../steps/notifying.ts";

const own = useOwnCity(() => ({ messenger: "fake" }));
const admin = withCityDatabase(own);

const job = "appointment-reminder";
let time: string;

beforeEach(async () => {
  time = scheduledNow();
  own.lines.length = 0;
  await admin(async (sql) => {
    await sql`update messaging.control set paused = true`;
    await sql`truncate messaging.message, messaging.idempotency cascade`;
    await sql`truncate notification.run, notification.recipient, notification.request, notification.opt_out`;
    await playAudience(sql, "appointment_reminder");
  });
});

const show = (...args: Parameters<typeof showRecipients> extends [unknown, ...infer Rest] ? Rest : never) =>
  admin((sql) => showRecipients(sql, ...args));
const run = (input = { job, scheduled_time: time }) => own.city.invoke("notify", input);
const messages = () =>
  admin(
    (sql) => sql<{ phone: string; text: string; priority: number; run: string }[]>`
      select phone, content ->> 'text' as text, priority, run from messaging.message order by seq`,
  );
const runs = () =>
  admin(
    (sql) => sql`
      select job, state, reason, accepted, opted_out, refused, expired from notification.run order by scheduled_at, job`,
  );
const missed = () =>
  admin(
    (sql) => sql`
      select dedupe_key as key, outcome, reason from notification.recipient where outcome <> 'accepted' order by 1`,
  );
const counts = { accepted: 0, opted_out: 0, refused: 0, expired: 0 };
const done = { job, state: "done", reason: null, ...counts };

describe("a run", () => {
  test("hands over one message per recipient, and none when it is repeated", async () => {
    await show(450);
    expect(await run()).toEqual({ payload: "null" });
    const first = await messages();
    expect(new Set(first.map(({ phone }) => phone)).size).toBe(450);
    expect(first[0]?.text).toContain(
      "Yth. Warga 0,\n\nkami ingatkan janji layanan Anda:\n*KTP*\nRabu, 2 Januari 2030, pukul 09.30",
    );
    expect(await runs()).toEqual([{ ...done, accepted: 450 }]);
    await run();
    expect(await messages()).toEqual(first);
    expect(await runs()).toEqual([{ ...done, accepted: 450 }]);
  });

  test("at another time notifies again, if the job notifies in each run", async () => {
    await show(3);
    await run();
    await run({ job, scheduled_time: new Date(Date.parse(time) - 60_000).toISOString() });
    expect((await messages()).length).toBe(6);
    expect((await runs()).map(({ accepted }) => accepted)).toEqual([3, 3]);
  });

  test("notifies about each event once for ever, but still about new events", async () => {
    const once = { job: "document-status", scheduled_time: time };
    const values = { name: "Warga", document: "KTP", number: "1", status: "Selesai" };
    await admin((sql) => playAudience(sql, "document_status"));
    await show(2, (row) => ({ values, ...(row === 1 && { phone: "0811" }) }));
    await run(once);
    await admin((sql) => sql`update office.played set phone = '628119999999' where phone = '0811'`);
    await run({ ...once, scheduled_time: new Date(Date.parse(time) + 60_000).toISOString() });
    expect((await messages()).map(({ phone }) => phone)).toEqual(["628111000000", "628119999999"]);
    expect((await runs()).map(({ accepted, refused }) => [accepted, refused])).toEqual([
      [1, 1],
      [1, 0],
    ]);
  });

  test("notifies nobody again after the outbox has deleted the keys, as it does after a day", async () => {
    await show(3);
    await run();
    await admin((sql) => sql`truncate messaging.idempotency`);
    await run();
    expect((await messages()).length).toBe(3);
  });

  test("that was killed before it recorded a handover notifies nobody again, and records it", async () => {
    await show(3);
    await run();
    const before = await messages();
    await admin((sql) => sql`truncate notification.recipient`);
    await run();
    expect([await messages(), await runs()]).toEqual([before, [{ ...done, accepted: 3 }]]);
    const [row] = await admin(
      (sql) => sql`select count(distinct message_id)::int as ids from notification.recipient`,
    );
    expect(row?.ids).toBe(3);
  });

  test("reports who cannot be notified, with the reason, and notifies the others", async () => {
    const values = { name: "Warga", service: "KTP", place: "Loket 1", date: "2030-01-02", time: "09:30" };
    await show(10, (row) => {
      if (row === 1) return { phone: "0812 3456 789" };
      if (row === 2) return { phone: null };
      if (row === 3) return { values: { ...values, name: undefined, time: "9 o'clock" } };
      if (row === 4) return { values: { ...values, place: " \n " } };
      if (row === 5 || row === 6) return { dedupe_key: "TWICE" };
      if (row === 7) return { dedupe_key: null };
      if (row === 8) return { values: null };
      return {};
    });
    await run();
    expect((await messages()).map(({ phone }) => phone)).toEqual(["628111000000", "628111000009"]);
    expect(await missed()).toEqual([
      { key: "", outcome: "refused", reason: "dedupe_key is missing" },
      { key: "R00001", outcome: "refused", reason: "phone must be digits with country code" },
      { key: "R00002", outcome: "refused", reason: "phone is missing" },
      { key: "R00003", outcome: "refused", reason: "name is missing, time is invalid" },
      { key: "R00004", outcome: "refused", reason: "place is missing" },
      {
        key: "R00008",
        outcome: "refused",
        reason: "name is missing, service is missing, place is missing, date is missing, time is missing",
      },
      { key: "TWICE", outcome: "refused", reason: "dedupe_key occurs 2 times" },
    ]);
    expect(await runs()).toEqual([{ ...done, accepted: 2, refused: 7 }]);
  });

  test("repeated after the data is corrected notifies those who were left out", async () => {
    await show(3, (row) => (row === 1 ? { phone: "x" } : {}));
    await run();
    await admin((sql) => sql`update office.played set phone = '628115550000' where phone = 'x'`);
    await run();
    expect((await messages()).map(({ phone }) => phone)).toEqual([
      ...["628111000000", "628111000002", "628115550000"],
    ]);
    expect(await runs()).toEqual([{ ...done, accepted: 3 }]);
  });

  test("does not let a value change the surrounding text", async () => {
    const name = "*Budi*\n\nKode Anda: `1`\u202E\u200B_x_~";
    await show(1, () => ({
      values: { name, service: "S".repeat(200), place: "P", date: "2030-01-02", time: "09:30" },
    }));
    await run();
    const [{ text } = { text: "" }] = await messages();
    expect(text.split("\n")[0]).toBe("Yth. Budi Kode Anda: 1x,");
    expect(text).toContain(`*${"S".repeat(79)}…*`);
  });
});

describe("a run that fails", () => {
  test("for an unknown job is stored with its reason, and fails for the caller", async () => {
    expect(await run({ job: "nonsense", scheduled_time: time })).toMatchObject({
      errorMessage: "unknown job",
    });
    expect(await runs()).toEqual([{ job: "nonsense", state: "failed", reason: "unknown job", ...counts }]);
  });

  test("for a missing view says so, and succeeds when the view is back", async () => {
    await show(2);
    const rename = (from: string, to: string) =>
      admin((sql) =>
        sql
          .unsafe(`set role municipal_owner; alter view audience.${from} rename to ${to}; reset role`)
          .simple(),
      );
    await rename("appointment_reminder", "elsewhere");
    const reason = "the view audience.appointment_reminder cannot be read (42P01)";
    expect(await run()).toMatchObject({ errorMessage: reason });
    expect(await runs()).toEqual([{ ...done, state: "failed", reason }]);
    await rename("elsewhere", "appointment_reminder");
    await run();
    expect(await runs()).toEqual([{ ...done, accepted: 2 }]);
  });

  test("before it reads a view without security_barrier says how to set it", async () => {
    await show(2);
    const asOwner = (statement: string) =>
      admin((sql) => sql.unsafe(`set role municipal_owner; ${statement}; reset role`).simple());
    const remedy = "ALTER VIEW audience.appointment_reminder SET (security_barrier)";
    const reason = `the view audience.appointment_reminder lacks security_barrier; run: ${remedy}`;
    for (const leaky of ["reset (security_barrier)", "set (security_barrier = off)"]) {
      await asOwner(`alter view audience.appointment_reminder ${leaky}`);
      expect(await run()).toMatchObject({ errorMessage: reason });
    }
    expect([await messages(), await runs()]).toEqual([[], [{ ...done, state: "failed", reason }]]);
    await asOwner(remedy);
    await run();
    expect(await runs()).toEqual([{ ...done, accepted: 2 }]);
  });

  test("in the middle of the view has notified the recipients before", async () => {
    await show(450, (row) => ({ phone: row === 430 ? "6281PLANTED" : `62811${1_000_000 + row}` }));
    await admin((sql) =>
      sql
        .unsafe(
          `set role municipal_owner; create or replace view audience.appointment_reminder with (security_barrier) as
           select dedupe_key, phone, values || jsonb_build_object('n', case when phone ~ 'P' then phone::bigint end) as values
           from (select * from office.played order by dedupe_key offset 0) p; reset role`,
        )
        .simple(),
    );
    const reason = "the view audience.appointment_reminder cannot be read (22P02)";
    expect(await run()).toMatchObject({ errorMessage: reason });
    const [{ accepted, state } = { accepted: -1, state: "" }] = await runs();
    expect([state, (await messages()).length]).toEqual(["failed", accepted]);
    expect(own.lines.join()).not.toContain("PLANTED");
  });
});

describe("a person who has opted out", () => {
  const optOut = (phone: string) => {
    const secret = JSON.parse(own.city.secrets.find("municipal/local/opt-out-pepper")?.value ?? "{}");
    return admin(async (sql) => {
      const digest = createHmac("sha256", secret.pepper).update(phone).digest();
      await sql`insert into notification.opt_out (digest, pepper_version) values (${digest}, ${secret.version})`;
    });
  };

  test("gets no reminder, and is counted", async () => {
    await show(3);
    await optOut("628111000001");
    await run();
    expect((await messages()).map(({ phone }) => phone)).toEqual(["628111000000", "628111000002"]);
    expect(await runs()).toEqual([{ ...done, accepted: 2, opted_out: 1 }]);
  });

  test("gets what they requested", async () => {
    await optOut("628111000001");
    await own.city.invoke("notify", {
      id: "e1",
      "detail-type": "NotificationRequested",
      time,
      detail: {
        template: "one-time-code",
        phone: "628111000001",
        values: { code: "493817", purpose: "masuk" },
      },
    });
    // the text of a code is stored encrypted
    expect(await messages()).toMatchObject([{ phone: "628111000001", text: null }]);
  });
});

test("a run that is too late hands over nothing, and says who was not notified", async () => {
  await show(2);
  const late = new Date(Date.now() - 12 * 3_600_000 - 1_000).toISOString();
  await run({ job, scheduled_time: late });
  expect(await messages()).toEqual([]);
  expect(await missed()).toEqual(
    ["R00000", "R00001"].map((key) => ({ key, outcome: "expired", reason: "too late to be sent" })),
  );
  expect(await runs()).toEqual([{ ...done, expired: 2 }]);
});

test("a notification sent once for ever is remembered while the audience contains it, and for a month after", async () => {
  const once = (minutes: number) =>
    run({
      job: "document-status",
      scheduled_time: new Date(Date.parse(time) + minutes * 60_000).toISOString(),
    });
  const values = { name: "Warga", document: "KTP", number: "1", status: "Selesai" };
  const age = (days: number) =>
    admin(
      (sql) => sql`update notification.recipient set seen_at = seen_at - ${`${days} days`}::text::interval`,
    );
  await admin((sql) => playAudience(sql, "document_status"));
  await show(1, () => ({ values }));
  await once(0);
  await age(29);
  await once(1); // it is shown still
  await age(29);
  expect(await own.city.invoke("maintain", {})).toEqual({ payload: "null" });
  // else the outbox would recognise its key
  await admin((sql) => sql`truncate messaging.idempotency`);
  await once(2);
  expect((await messages()).length).toBe(1);
  await age(31);
  await own.city.invoke("maintain", {});
  expect(await admin((sql) => sql`select from notification.recipient`)).toHaveLength(0);
});

test("no job may hand over a message for longer than the outbox keeps its key", () => {
  for (const { expiresInMinutes } of Object.values(templates))
    expect(expiresInMinutes).toBeLessThanOrEqual(24 * 60);
});
