import postgres from "postgres";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { requestedType } from "#lib/notification/event.ts";
import { runJob } from "#lib/notification/job-run.ts";
import { useMessagingCity } from "../steps/city/messaging-city.ts";
import { withCityDatabase } from "../steps/city/own-city.ts";
import { reply } from "../steps/fake-messenger.ts";
import { playAudience, scheduledNow, showRecipients } from "../steps/notifying.ts";

/** A city whose messenger is played: what the function hands over, and how it bears what the task says. */
const city = useMessagingCity();
const admin = <T>(work: (sql: postgres.Sql) => Promise<T>) => withCityDatabase(city.own)(work);

/** Event data that only the message may contain. */
const planted = {
  phone: "6281399887766",
  code: "493817",
  name: "PLANTED NAME",
  number: "PLANTED-17",
  url: "https://planted-host.example/planted.pdf?signature=PLANTED",
};

const request = (template: string, values: unknown, more: object = {}) => ({
  version: "0",
  id: "b9d4c3a0-0001",
  "detail-type": requestedType,
  source: "city.backend",
  time: new Date().toISOString(),
  detail: { template, phone: planted.phone, values },
  ...more,
});
const code = { code: planted.code, purpose: "masuk ke Layanan Warga" };
const ask = (event: unknown) => city.own.city.invoke("notify", event);
const kept = () =>
  admin((sql) => sql`select id, template, outcome, reason from notification.request order by changed_at`);

beforeEach(async () => {
  city.own.lines.length = 0;
  await admin(async (sql) => {
    await sql`truncate notification.run, notification.recipient, notification.request, notification.opt_out`;
  });
});

afterEach(async () => {
  const [row] = await admin(
    (sql) => sql<{ all: string }[]>`
      select concat(
        (select jsonb_agg(r) from notification.run r), (select jsonb_agg(r) from notification.recipient r),
        (select jsonb_agg(r) from notification.request r)) as all`,
  );
  const everywhere = `${city.own.lines.join("\n")}\n${row?.all}`;
  for (const word of Object.values(planted)) expect(everywhere).not.toContain(word);
});

describe("a notification request", () => {
  test("hands over a code with priority, without quiet hours, valid for five minutes", async () => {
    expect(await ask(request("one-time-code", code))).toEqual({ payload: "null" });
    const [{ path, submission } = {}] = city.task.handed;
    expect(path).toBe("/messages/batch");
    expect(submission).toMatchObject({
      ...{
        kind: "text",
        phone: planted.phone,
        class: "one-time-code",
        idempotency_key: "request|b9d4c3a0-0001",
      },
      sender: "notification",
      text: expect.stringContaining(`masuk ke Layanan Warga: *${planted.code}*`),
    });
    expect(submission?.quiet_hours).toBeUndefined();
    expect(submission?.expires_in_seconds).toBeGreaterThan(290);
    expect(submission?.expires_in_seconds).toBeLessThanOrEqual(300);
    expect(await kept()).toEqual([
      { id: "b9d4c3a0-0001", template: "one-time-code", outcome: "accepted", reason: null },
    ]);
  });

  test("hands over a proof as a file by its URL", async () => {
    const { name, number, url } = planted;
    await ask(request("proof", { name, number, url, document: "Bukti bayar", file_name: "bukti.pdf" }));
    const [{ path, submission } = {}] = city.task.handed;
    expect(path).toBe("/messages");
    expect(submission).toMatchObject({
      ...{ kind: "file", url, file_name: "bukti.pdf", class: "transactional" },
      text: `Yth. ${name},\n\nterlampir Bukti bayar nomor *${number}*. Simpan berkas ini sebagai bukti.`,
    });
  });

  test("is identified by the sender's own id, if there is one", async () => {
    await ask(
      request("one-time-code", code, {
        detail: { ...request("one-time-code", code).detail, request_id: "login-1" },
      }),
    );
    expect(city.task.handed[0]?.submission?.idempotency_key).toBe("request|login-1");
    expect((await kept())[0]?.id).toBe("login-1");
  });

  test("counts as sent when the messenger knows its key with another payload", async () => {
    city.task.behave((_, response) => reply(response, 422, { code: "idempotency_key_reused", message: "x" }));
    const { name, number, url } = planted;
    await ask(request("proof", { name, number, url, document: "Bukti", file_name: "b.pdf" }));
    expect((await kept())[0]?.outcome).toBe("accepted");
  });

  test.each([
    ["an unknown template", request("nonsense", code), "unknown template"],
    ["a missing value", request("one-time-code", { code: planted.code }), "purpose is missing"],
    [
      "a value that cannot be used",
      request("one-time-code", { ...code, code: `${planted.code}; call me` }),
      "code is invalid",
    ],
    [
      "a malformed number",
      request("one-time-code", code, {
        detail: { template: "one-time-code", phone: `+${planted.phone}`, values: code },
      }),
      "phone must be digits with country code",
    ],
    ["no detail at all", request("one-time-code", code, { detail: planted.phone }), "invalid: detail"],
    [
      "no values",
      request("one-time-code", code, { detail: { template: "proof", phone: planted.phone } }),
      "invalid: values",
    ],
  ])("with %s is stored with the reason, and is not retried", async (_, event, reason) => {
    expect(await ask(event)).toEqual({ payload: "null" });
    expect(city.task.handed).toEqual([]);
    expect(await kept()).toMatchObject([{ outcome: "refused", reason }]);
    expect(city.own.logged().at(-1)).toMatchObject({ level: "warn", message: "notification", reason });
  });

  test("that arrived too late is never handed over", async () => {
    const time = new Date(Date.now() - 301_000).toISOString();
    await ask(request("one-time-code", code, { time }));
    expect(city.task.handed).toEqual([]);
    expect(await kept()).toMatchObject([{ outcome: "expired", reason: "too late to be sent" }]);
  });

  test("waits for a messenger that is briefly unavailable", async () => {
    let left = 2;
    city.task.behave((_, response) =>
      left-- > 0 ? response.destroy() : reply(response, 201, { ids: ["3EB0PLAYED"] }),
    );
    await ask(request("one-time-code", code));
    expect(await kept()).toMatchObject([{ outcome: "accepted" }]);
    expect(new Set(city.task.handed.map(({ submission }) => submission?.idempotency_key)).size).toBe(1);
  });

  test("that was accepted stays accepted when it is repeated too late", async () => {
    await ask(request("one-time-code", code));
    const time = new Date(Date.now() - 301_000).toISOString();
    await ask(request("one-time-code", code, { time }));
    expect(city.own.logged().at(-1)).toMatchObject({ message: "notification", outcome: "expired" });
    expect(city.task.handed).toHaveLength(1);
    expect(await kept()).toMatchObject([{ outcome: "accepted", reason: null }]);
  });

  test("that failed is stored as accepted, without a reason, when it is repeated in time", async () => {
    await ask(request("one-time-code", { code: planted.code }));
    expect(await kept()).toMatchObject([{ outcome: "refused" }]);
    await ask(request("one-time-code", code));
    expect(await kept()).toMatchObject([{ outcome: "accepted", reason: null }]);
  });

  test("that cannot be handed over in time is reported as failed, and is not retried", async () => {
    city.task.behave((_, response) => response.destroy());
    const time = new Date(Date.now() - 294_000).toISOString();
    const event = request("one-time-code", code, { time });
    expect(await ask(event)).toEqual({ payload: "null" });
    expect(await kept()).toMatchObject([
      { outcome: "failed", reason: "not accepted by the messenger (outcome_unknown)" },
    ]);
    // an alarm counts these lines
    expect(city.own.logged().at(-1)).toMatchObject({ level: "error", request: event.id, outcome: "failed" });
  });

  test("of an unknown kind is only logged", async () => {
    expect(await ask({ ...request("one-time-code", code), "detail-type": "SomethingElse" })).toEqual({
      payload: "null",
    });
    expect(city.own.logged().at(-1)).toMatchObject({
      level: "error",
      message: expect.stringContaining("neither"),
    });
  });
});

test("a run logs its counts, and no recipient", async () => {
  await admin(async (sql) => {
    await playAudience(sql, "appointment_reminder");
    await showRecipients(sql, 2, (row) => ({
      phone: row === 0 ? planted.phone : `+${planted.phone}`,
      values: { name: planted.name, service: planted.number, place: "P", date: "2030-01-02", time: "09:30" },
    }));
  });
  await ask({ job: "appointment-reminder", scheduled_time: scheduledNow() });
  expect(city.task.handed[0]?.submission?.text).toContain(planted.name);
  expect(city.own.logged().at(-1)).toMatchObject({
    level: "warn",
    message: "notification run",
    accepted: 1,
    refused: 1,
  });
});

test("a run waits for an unavailable messenger, and hands over the same messages", async () => {
  await admin(async (sql) => {
    await playAudience(sql, "appointment_reminder");
    await showRecipients(sql, 1);
  });
  let left = 2;
  city.task.behave((_, response) =>
    left-- > 0 ? reply(response, 500, {}) : reply(response, 201, { ids: ["3EB0PLAYED"] }),
  );
  await ask({ job: "appointment-reminder", scheduled_time: scheduledNow() });
  const [first, ...others] = city.task.handed.map(({ submission }) => submission?.idempotency_key);
  expect(others).toEqual([first, first]);
  expect(await admin((sql) => sql`select state, accepted from notification.run`)).toEqual([
    { state: "done", accepted: 1 },
  ]);
});

test("a run that has no more time leaves the rest to the next attempt", async () => {
  await admin(async (sql) => {
    await playAudience(sql, "appointment_reminder");
    await showRecipients(sql, 1);
  });
  const event = { job: "appointment-reminder", scheduled_time: scheduledNow() };
  const never = () => expect.unreachable();
  const reason = "out of time; the next attempt continues from here";
  const sql = postgres(city.own.city.database.adminUrl, { max: 2 });
  onTestFinished(() => sql.end());
  const context = {
    sql,
    submit: never,
    submitBatch: never,
    pepper: { version: 1, digest: () => null },
    until: Date.now() - 1,
    maxWaitMs: 0,
  };
  await expect(runJob(context, event)).rejects.toThrow(reason);
  expect(await sql`select state, reason from notification.run`).toEqual([{ state: "failed", reason }]);
  await ask(event);
  expect(await sql`select state, reason, accepted from notification.run`).toEqual([
    { state: "done", reason: null, accepted: 1 },
  ]);
});

test("of two runs at once, the later one does not overwrite the acceptances of the other", async () => {
  await admin(async (sql) => {
    await playAudience(sql, "appointment_reminder");
    await showRecipients(sql, 2, (row) => (row === 0 ? { phone: "x" } : {}));
  });
  const event = { job: "appointment-reminder", scheduled_time: scheduledNow() };
  const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  city.task.behave(async ({ submission }, response) => {
    if (city.task.handed.length === 1) {
      reached.resolve();
      await release.promise;
    }
    reply(response, 201, { ids: submission?.phone === "628111000000" ? ["A", "B"] : ["B"] });
  });
  const first = ask(event);
  // it has refused the first recipient, and waits for the task to take the second
  await reached.promise;
  await admin((sql) => sql`update office.played set phone = '628111000000' where phone = 'x'`);
  await ask(event);
  release.resolve();
  await first;
  expect(
    await admin(
      (sql) => sql`select dedupe_key, outcome, reason, message_id from notification.recipient order by 1`,
    ),
  ).toEqual([
    { dedupe_key: "R00000", outcome: "accepted", reason: null, message_id: "A" },
    { dedupe_key: "R00001", outcome: "accepted", reason: null, message_id: "B" },
  ]);
  expect(await admin((sql) => sql`select state, accepted, refused from notification.run`)).toEqual([
    { state: "done", accepted: 2, refused: 0 },
  ]);
});
