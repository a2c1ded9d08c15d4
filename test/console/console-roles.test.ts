import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Role } from "#lib/console/login/roles.ts";
import { listActs, openActs } from "#lib/console/panels/acts.ts";
import { createMessengerDatabase } from "../fleet/messenger-database.ts";
import { userOf } from "../steps/console.ts";
import { pairing, qrText } from "../steps/console-state.ts";
import { openLoggedIn } from "./console-browser.ts";

const openAs = async (role: Role) => {
  const user = await userOf(undefined, role);
  return openLoggedIn({ findUsers: async () => [user] });
};
const phone = "6281234567890";
/** The least role of each action, with what its form contains. */
const actions: readonly [string, Role, Record<string, string>][] = [
  ["pause", "operator", {}],
  ["resume", "operator", {}],
  ["pairing-code", "operator", { phone }],
  ["log-in", "operator", {}],
  ["opt-out", "operator", { phone, confirmed: "yes" }],
  ["opt-in", "operator", { phone, confirmed: "yes" }],
  ["answer", "operator", { answer: "This number does not read messages." }],
  ["no-answer", "operator", {}],
  ["cancel-run", "operator", { run: "vaccination-march", confirmed: "yes" }],
  ["bulk/bulk-preview", "operator", { template: "reminder" }],
  ["bulk/bulk-start", "operator", { template: "reminder", previewed: "f" }],
  ["bulk/template-add", "operator", { template: "news", text: "Halo" }],
  ["bulk/template-approve", "operator", { template: "news", version: "1" }],
  ["bulk/template-retire", "operator", { template: "news", version: "1" }],
  ["unlink", "admin", { confirmation: "unlink" }],
];
const roles: readonly Role[] = ["viewer", "operator", "admin"];

describe("an action is performed only for a role that may, and recorded either way", () => {
  test.each(actions.flatMap((action) => roles.map((role) => [...action, role] as const)))(
    "%s, which requires %s, with %o by %s",
    async (action, required, fields, role) => {
      const isAllowed = roles.indexOf(role) >= roles.indexOf(required);
      const { post, get, messenger } = await openAs(role);
      await post(`/${action}`, fields);
      expect(messenger.calls).toHaveLength(isAllowed ? 1 : 0);
      expect(messenger.acts.at(-1)).toMatch(isAllowed ? / done$/ : / denied$/);
      const { body } = await get();
      if (!isAllowed) expect(body).toContain("Your role does not allow this");
    },
  );
});

test("a number in the record is masked, and a search for one is recorded too", async () => {
  const { post, messenger } = await openAs("operator");
  await post("/opt-out", { phone, confirmed: "yes" });
  await post("/search", { query: phone });
  await post("/search", { query: "3EB0A1" });
  expect(messenger.acts).toEqual([
    "operator login done",
    "operator opt-out 6281•••••••90 done",
    "operator search 6281•••••••90 done",
  ]);
});

test.each(["0812-3456-7890", "+62 812 3456 7890", "0062 812 3456 7890"])(
  "a search for %s, as people write a number, is that number, masked and recorded",
  async (query) => {
    const { post, get, messenger } = await openAs("viewer");
    await post("/search", { query });
    expect(messenger.acts.at(-1)).toBe("operator search 6281•••••••90 done");
    expect((await get("/messages")).body).toContain("messages to 6281•••••••90");
    expect(messenger.filter).toEqual({ phone: "6281234567890" });
  },
);

test("digits that are no number, such as those of an identity card, are neither shown nor recorded", async () => {
  const { post, get, messenger } = await openAs("viewer");
  await post("/search", { query: "3273011234567890" });
  expect(messenger.acts.at(-1)).toBe("operator search ••••••••••••••• done");
  expect((await get("/messages")).body).not.toContain("3273011234567890");
});

test("a search for a number that cannot be recorded is not answered", async () => {
  const record = (_: unknown, action: string) =>
    action === "search" ? Promise.reject(new Error("10.1.2.3")) : Promise.resolve();
  const { post, get, messenger } = await openLoggedIn({
    acts: { begin: async () => 1, end: async () => {}, record },
  });
  await post("/search", { query: phone });
  const { body } = await get();
  expect(messenger.filter).toEqual({});
  expect(body).toContain("the action could not be recorded");
});

test("an action without an answer has an unknown outcome, until it ends", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const pairing = Promise.withResolvers<string>();
  const { post, get, messenger } = await openLoggedIn({ requestPairingCode: () => pairing.promise });
  const posted = post("/pairing-code", { phone });
  await vi.waitFor(() => expect(messenger.acts.at(-1)).toContain("pairing-code"), { timeout: 30_000 });
  await vi.advanceTimersByTimeAsync(20_000);
  await posted;
  expect((await get()).body).toContain("the outcome is unknown");
  expect(messenger.acts.at(-1)).toBe("operator pairing-code 6281•••••••90");
  pairing.resolve("K7PX-2QWM");
  vi.useRealTimers();
  await expect.poll(() => messenger.acts.at(-1)).toBe("operator pairing-code 6281•••••••90 done");
});

test("an action that cannot be recorded is not performed", async () => {
  const begin = () => Promise.reject(new Error("10.1.2.3"));
  const { post, get, messenger } = await openLoggedIn({
    acts: { begin, end: async () => {}, record: async () => {} },
  });
  await post("/pause");
  expect(messenger.calls).toEqual([]);
  const { body } = await get();
  expect(body).toContain("the action could not be recorded");
  expect(body).not.toContain("10.1.2.3");
});

test("a viewer sees neither the QR code nor the pairing code, with which a phone could be linked", async () => {
  const { get, messenger } = await openAs("viewer");
  const state = pairing();
  messenger.state = { ...state, connection: { ...state.connection, code: "K7PX-2QWM" } };
  const { body } = await get();
  expect(body).not.toContain('class="qr"');
  expect(body).not.toContain("K7PX");
  expect(body).not.toContain(qrText);
});

test("opting a number out requires the confirmation", async () => {
  const { post, get, messenger } = await openAs("admin");
  await post("/opt-out", { phone });
  expect(messenger.calls).toEqual([]);
  expect((await get()).body).toContain("tick the box to confirm");
});

test("the messenger's role adds to the record, which the console's reads, but changes and deletes nothing of it", async () => {
  const { sql, connectConsole } = await createMessengerDatabase();
  const acts = openActs(sql);
  await acts.end(await acts.begin({ id: "sari", name: "sari", role: "operator" }, "pause"), "done");
  await acts.begin(
    { id: "https://login.example 7", name: "budi", role: "admin" },
    "opt-out",
    "6281•••••••90",
  );
  expect(await listActs(connectConsole())).toMatchObject([
    {
      operator: "https://login.example 7",
      name: "budi",
      role: "admin",
      action: "opt-out",
      subject: "6281•••••••90",
      result: null,
    },
    { operator: "sari", role: "operator", action: "pause", subject: null, result: "done" },
  ]);
  for (const statement of [
    "update messaging.operator_act set operator = 'x'",
    "delete from messaging.operator_act",
    "truncate messaging.operator_act, messaging.operator_result",
    "update messaging.operator_result set result = 'done'",
    "delete from messaging.operator_result",
  ])
    await expect(sql.unsafe(statement), statement).rejects.toMatchObject({ code: "42501" });
});
