import { beforeEach, describe, expect, test } from "vitest";
import { jobs } from "#lib/notification/jobs.ts";
import { useOwnCity, withCityDatabase } from "../../steps/city/own-city.ts";
import { notifyIn } from "../../steps/notify-command.ts";
import { playAudience, scheduledNow, showRecipients } from "../../steps/notifying.ts";

const own = useOwnCity(() => ({ messenger: "fake" }));
const admin = withCityDatabase(own);

const job = "appointment-reminder";

/** The command, as an operator of a stage calls it: with the addresses of everything. */
const notify = notifyIn(own);

const sent = () =>
  admin(
    (sql) => sql<{ phone: string; text: string }[]>`
    select phone, content ->> 'text' as text from messaging.message order by seq`,
  );

beforeEach(() =>
  admin(async (sql) => {
    await sql`update messaging.control set paused = true`;
    await sql`truncate messaging.message, messaging.idempotency cascade`;
    await sql`truncate notification.run, notification.recipient, notification.request, notification.opt_out`;
    await playAudience(sql, "appointment_reminder");
    await showRecipients(sql, 3, (row) => (row === 1 ? { phone: "0812-555" } : {}));
  }),
);

describe("run", () => {
  test("notifies everyone, and reports who could not be notified and why", async () => {
    const { status, out } = await notify("run", job);
    expect(status).toBe(3);
    expect(out).toContain("recipients: 2 accepted, 0 opted out, 1 rejected, 0 expired");
    expect(out).toContain("messages: 2 PENDING");
    expect(out).toContain("R00001  rejected: phone must be digits with country code");
    expect((await sent()).map(({ phone }) => phone)).toEqual(["628111000000", "628111000002"]);
  });

  test("notifies nobody twice for the same scheduled time", async () => {
    const at = scheduledNow();
    for (const _ of [1, 2]) await notify("run", job, "--at", at);
    expect((await sent()).length).toBe(2);
  });

  test("--dry-run shows recipients and messages with masked numbers and names, and sends nothing", async () => {
    const { status, out } = await notify("run", job, "--dry-run");
    expect(status).toBe(0);
    expect(out).toContain("R00000  6281••••••00  would be sent\n    Yth. W•••• 0,");
    expect(out).not.toContain("Warga");
    expect(out).toContain("R00001  ••••••••  rejected: phone must be digits");
    expect(out).toContain("Dry run: 2 would be sent, 1 would not. Nothing was sent.");
    expect(out).not.toMatch(/\d{7,}/);
    expect(await sent()).toEqual([]);
    expect(await admin((sql) => sql`select from notification.run`)).toHaveLength(0);
  });

  test("--dry-run for another time shows the recipients at that time", async () => {
    await admin(async (sql) => {
      await sql`insert into office.on_call values ('dry', '628125550001') on conflict do nothing`;
      await sql`insert into office.alert values ('dry', 'Basis data', 'Penuh', '2029-01-01T00:00Z') on conflict do nothing`;
    });
    const { out } = await notify("run", "system-alert", "--dry-run");
    expect(out).not.toContain("dry:dry");
    const later = await notify("run", "system-alert", "--dry-run", "--at", "2029-01-01T08:00+07:00");
    expect(later.out).toContain("dry:dry  6281••••••01  would be sent\n    ⚠️ *Basis data*\n    Penuh");
  });
});

test("report lists the last runs and the failed requests", async () => {
  await notify("run", job);
  expect((await notify("report", job)).out).toMatch(
    /^appointment-reminder at \S+Z {2}done\n {2}recipients: 2 accepted/,
  );
  expect(await notify("send", "one-time-code", "6281234567890", "code=12")).toMatchObject({
    status: 1,
    errors: expect.stringContaining(
      "rejected: code is invalid, purpose is missing. The values of one-time-code: code (4 to 12 digits or capital letters), purpose (text of up to 60 characters)",
    ),
  });
  expect((await notify("report", "requests")).out).toMatch(
    /one-time-code +rejected +code is invalid, purpose is missing/,
  );
});

test("replay notifies those whom a run missed, after the data is corrected", async () => {
  await notify("run", job);
  await admin((sql) => sql`update office.played set phone = '628125550000' where phone = '0812-555'`);
  const { status, out } = await notify("replay", job);
  expect([status, out.includes("3 accepted, 0 opted out, 0 rejected")]).toEqual([0, true]);
  expect((await sent()).map(({ phone }) => phone)).toEqual(["628111000000", "628111000002", "628125550000"]);
  expect((await notify("replay", job)).out).toContain("No failed runs of appointment-reminder");
});

test("send sends one notification once per id", async () => {
  const args = [
    "send",
    "queue-ticket",
    "6281234567890",
    "number=A-7",
    "service=KTP",
    "place=Loket 3",
    "ahead=4",
    "--id",
    "t7",
  ];
  const first = await notify(...args);
  expect(first.out).toMatch(/^Accepted as message \w+/);
  expect((await notify(...args)).out).toBe(first.out);
  expect(await sent()).toEqual([
    {
      phone: "6281234567890",
      text: "Nomor antrean *A-7* (KTP): *4* orang lagi di depan Anda. Mohon bersiap di sekitar Loket 3.",
    },
  ]);
});

test("opt-out stops reminders until it is removed", async () => {
  expect((await notify("opt-out", "628111000000")).out).toBe("6281••••••00: reminders off\n");
  expect((await notify("run", job)).out).toContain("1 accepted, 1 opted out");
  await notify("opt-out", "628111000000", "--undo");
  expect((await notify("run", job, "--at", "2020-01-01T00:00Z")).out).toContain(
    "0 opted out, 1 rejected, 2 expired",
  );
});

test("opt-out ends what waits for the number, and for the one that the platform has for it", async () => {
  await notify("run", job);
  await admin(
    (sql) => sql`
      insert into messaging.number_check (account, phone, address)
      values (1, '628111000000', '628111000002@s.whatsapp.net'), (1, '628111000002', '628111000002@s.whatsapp.net')
      on conflict (account, phone) do update set address = excluded.address`,
  );
  await notify("opt-out", "628111000000");
  const states = await admin((sql) => sql`select state, reason from messaging.message`);
  expect(states).toEqual(Array(2).fill({ state: "FAILED", reason: "the recipient has opted out" }));
  expect((await notify("opt-out", "628111000002")).out).toContain("(unchanged)");
  await admin((sql) => sql`delete from messaging.number_check`);
});

test("jobs lists the jobs and their next runs", async () => {
  const { out } = await notify("jobs");
  for (const { name } of jobs)
    expect(out).toMatch(
      new RegExp(`^${name} +cron\\(.+\\) +Asia/Jakarta +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d WIB `, "m"),
    );
});

test("says what to do when the messenger is unavailable", async () => {
  const { url } = { url: "http://127.0.0.1:1" };
  const variables = own.city.variables;
  own.city.variables = (needed) => ({ ...variables(needed), MESSENGER_URL: url });
  try {
    expect(await notify("run", job)).toMatchObject({
      status: 1,
      errors: expect.stringContaining("the messenger did not accept the messages (session_unavailable)"),
    });
  } finally {
    own.city.variables = variables;
  }
  expect((await notify("report", job)).out).toContain("failed: the messenger did not accept the messages");
});

test.each([
  [["run", "nonsense"], "Unknown job: nonsense. Use appointment-reminder"],
  [["run"], "Missing required argument 'job'"],
  [["run", job, "--at", "08:00"], "--at must be a time with time zone"],
  [["run", job, "--at", "2999-01-01T00:00Z"], "is in the future"],
  [["run", job, "more"], "Too many arguments for 'run'"],
  [["send", "nonsense", "6281234567890"], "Unknown template: nonsense"],
  [["send", "proof", "81312345678"], "phone has two meanings"],
  [["send", "proof", "6281234567890", "name"], "Expected key=value, not name"],
  [
    ["send", "proof", "6281234567890", "naem=a"],
    "Unknown value: naem. The values of proof: name (text of up to",
  ],
  [["opt-out"], "Missing required argument 'phone'"],
  [["rum", job], "Unknown command 'rum'. Did you mean run?"],
  [["run", job, "--fast"], "Unknown option '--fast'"],
])("rejects %j with a message that says what to do", async (args, message) => {
  expect(await notify(...args)).toMatchObject({ status: 2, errors: expect.stringContaining(message) });
});

test("report of a time without a run says so", async () => {
  expect(await notify("report", job, "--at", "2020-01-01T00:00Z")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("No run of appointment-reminder at 2020-01-01T00:00:00.000Z"),
  });
});
