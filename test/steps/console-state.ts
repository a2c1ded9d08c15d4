import type { ConsoleState } from "#lib/console/state.ts";
import type { MessageSummary } from "#lib/messenger/outbox/message.ts";

/** What a QR code of the platform says, in its form and length. */
export const qrText =
  "2@aGVsbG8gd29ybGQgdGhpcyBpcyBhIHJlZmVyZW5jZSBhcyBsb25nIGFzIHRoZSByZWFsIG9uZXMgYXJl,Zm9yIGEgbm9pc2Uga2V5IG9mIDMyIGJ5dGVz/0w=,YW4gaWRlbnRpdHkga2V5IG9mIDMyIGJ5dGVzLi4u=,YWR2IHNlY3JldCBvZiAzMiBieXRlcy4uLi4uLi4u=";

/** The time so many seconds ago. */
export const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);

const listed = (index: number, more: Partial<MessageSummary> = {}): MessageSummary => ({
  id: `3EB0${(0xa1b2c3d4e5f6 + index * 7_919).toString(16).toUpperCase()}9C41`,
  kind: "text",
  phone: "6281•••••••01",
  state: "DELIVERED",
  reason: null,
  code: null,
  channel: "whatsapp",
  sender: "api:city-backend",
  attempts: 1,
  acceptedAt: ago(40 + index * 95),
  changedAt: ago(20 + index * 90),
  ...more,
});

/** A connected messenger with a queue and messages in every state. */
export const connected = (): ConsoleState => ({
  connection: { kind: "open", since: ago(11_000).toISOString(), phone: "6281•••••••77" },
  leader: true,
  jobs: ["appointment-reminder", "document-status"],
  paused: false,
  pausedSince: null,
  pausedBy: null,
  answer: "This number does not read messages; call 112.",
  unresolved: 0,
  unresolvedAt: null,
  limitedSince: null,
  stoppedSince: null,
  failures: {
    ended: 10,
    failed: 1,
    codes: ["400"],
    senders: ["api:city-backend"],
    accounts: ["main"],
    since: ago(600),
  },
  due: {
    pending: 12,
    sending: 1,
    oldest_seconds: 95,
    oldest_urgent_seconds: 20,
    paused: 0,
    callback_seconds: 0,
  },
  account: "main",
  accounts: [
    {
      ...{
        name: "main",
        channel: "whatsapp",
        department: null,
        pool: "city",
        state: "active",
        number: "6281•••••••77",
        holdCode: null,
        linkedAt: null,
        downSince: null,
      },
      waiting: 12,
      limitedUntil: null,
      isLed: true,
    },
  ],
  senders: ["api:city-backend", "notification"],
  hours: Array.from({ length: 24 }, (_, index) => ({
    at: new Date(Math.floor(Date.now() / 3_600_000 - 23 + index) * 3_600_000),
    accepted: [3, 1, 0, 0, 2, 8, 40, 55, 62, 48, 39, 51][index % 12] ?? 0,
    sent: [3, 1, 0, 0, 1, 8, 35, 50, 60, 50, 41, 50][index % 12] ?? 0,
    failed: index % 5 === 0 ? 1 : 0,
    waiting: [0, 0, 0, 0, 1, 1, 5, 9, 11, 9, 6, 13][index % 12] ?? 0,
  })),
  acts: [
    {
      id: 2,
      at: ago(600),
      operator: "https://login.example sub-5a2c8e01",
      name: "sari",
      role: "operator",
      action: "opt-out",
      subject: "6281•••••••45",
      result: "done",
    },
    {
      id: 1,
      at: ago(9_000),
      operator: "budi",
      name: "budi",
      role: "viewer",
      action: "pause",
      subject: null,
      result: "denied",
    },
  ],
  queue: [
    { state: "PENDING", count: 12, oldestSeconds: 95 },
    { state: "SENDING", count: 1, oldestSeconds: 3 },
  ],
  messages: [
    listed(0, {
      state: "PENDING",
      attempts: 0,
      phone: "6281•••••••12",
      acceptedAt: ago(4),
      changedAt: ago(4),
      obstacles: [{ name: "line" }, { name: "gap", until: ago(-5) }],
    }),
    listed(1, { state: "SENDING", phone: "6285•••••••30", acceptedAt: ago(12), changedAt: ago(1) }),
    listed(2, { state: "SENT", kind: "image", phone: "6281•••••••18" }),
    listed(3, { phone: "6282•••••••64" }),
    listed(4, { state: "READ", kind: "file", phone: "6281•••••••09" }),
    listed(5, {
      state: "FAILED",
      phone: "6287•••••••55",
      reason: "rejected by the platform, code 479: the recipient's devices or keys are out of date",
      code: "479",
    }),
    listed(6, {
      state: "UNCERTAIN",
      phone: "6281•••••••23",
      attempts: 5,
      reason: "the platform gave no answer",
    }),
    listed(7, {
      state: "EXPIRED",
      phone: "6289•••••••71",
      attempts: 0,
      reason: "not sent before it expired",
    }),
  ],
  terms: [
    {
      sender: "tax-office",
      pool: "city",
      classes: ["one-time-code", "transactional"],
      countries: [],
      ...{ messagesToday: 1_204, perDay: 5_000, bytesToday: 18_400_000, bytesPerDay: 50_000_000 },
      ...{ credentials: 2, expiresAt: ago(-86_400 * 40) },
    },
    {
      sender: "city-backend",
      pool: "city",
      classes: ["one-time-code", "transactional", "reminder", "bulk"],
      countries: [],
      ...{ messagesToday: 31, perDay: null, bytesToday: 4_100, bytesPerDay: null },
      ...{ credentials: 0, expiresAt: null },
    },
  ],
  callbacks: [
    {
      ...{
        id: 1,
        sender: "tax-office",
        host: "backend.city.example",
        failures: 7,
        lastStatus: 503,
        redirects: false,
        disabledAt: null,
      },
      ...{ waiting: 12, oldest: ago(4_000), undelivered: 3 },
    },
    {
      ...{
        id: 2,
        sender: "tax-office",
        host: "events.city.example",
        failures: 0,
        lastStatus: null,
        redirects: false,
        disabledAt: null,
      },
      ...{ waiting: 0, limitedUntil: null, isLed: true, oldest: null, undelivered: 0 },
    },
    {
      ...{
        id: 3,
        sender: "health-office",
        host: "health.city.example",
        failures: 0,
        lastStatus: 400,
        redirects: false,
        disabledAt: null,
      },
      ...{ waiting: 1, oldest: ago(90), undelivered: 0 },
    },
  ],
  failedJobs: [
    {
      job: "document-status",
      reason: "the view audience.document_status cannot be read (42P01)",
      scheduledAt: ago(30),
      since: ago(3_630),
    },
  ],
  runs: [
    {
      id: "4f0c9a6e-0d5b-4a52-9d0e-1b7f5a2c8e01",
      job: "document-status",
      bulk: null,
      scheduledAt: ago(30),
      ...{ template: null, lines: null, startedAt: ago(30), changedAt: ago(30) },
      state: "failed",
      reason: "the view audience.document_status cannot be read (42P01)",
      accepted: 0,
      opted_out: 0,
      refused: 0,
      expired: 0,
      messages: {},
    },
    {
      id: "4f0c9a6e-0d5b-4a52-9d0e-1b7f5a2c8e02",
      job: "appointment-reminder",
      bulk: null,
      scheduledAt: ago(7_500),
      ...{ template: null, lines: null, startedAt: ago(7_500), changedAt: ago(7_500) },
      state: "done",
      reason: null,
      accepted: 9_800,
      opted_out: 197,
      refused: 3,
      expired: 0,
      messages: { PENDING: 11, SENDING: 1, SENT: 40, DELIVERED: 9_691, READ: 55, FAILED: 2 },
    },
    {
      id: "4f0c9a6e-0d5b-4a52-9d0e-1b7f5a2c8e03",
      job: "bulk:vaccination-march",
      bulk: "vaccination-march",
      scheduledAt: ago(90_000),
      ...{ template: "vaccination", lines: 3_013, startedAt: ago(90_000), changedAt: ago(90_000) },
      state: "done",
      reason: null,
      accepted: 3_000,
      opted_out: 12,
      refused: 1,
      expired: 0,
      messages: { PENDING: 1_480, SENT: 20, DELIVERED: 1_500 },
    },
  ],
});

/** No phone is linked; the platform offers a QR code. */
export const pairing = (): ConsoleState => ({
  ...connected(),
  connection: { kind: "pairing", since: ago(8).toISOString(), qr: qrText },
});
