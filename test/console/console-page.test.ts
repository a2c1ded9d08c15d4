import { expect, test } from "vitest";
import { describeRejection } from "#lib/channels/codes.ts";
import type { ConsoleState } from "#lib/console/state.ts";
import { operator } from "../steps/console.ts";
import { connected, pairing, qrText } from "../steps/console-state.ts";
import { host, openLoggedIn, ownPage } from "./console-browser.ts";

test("every answer has the security headers", async () => {
  const { get, post } = await openLoggedIn();
  const answers = [
    ...(await Promise.all(
      ["", "/login", "/console.css", "/console.js", "/nowhere"].map((path) => get(path)),
    )),
    await post("/pause"),
    await post("/pause", {}, { host }),
    await post("/login", {}),
  ];
  for (const { headers } of answers)
    expect(headers).toMatchObject({
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      ),
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
    });
  for (const { headers } of answers)
    expect(headers["content-security-policy"]).not.toMatch(/unsafe|https?:|\*/);
});

test("no page has an inline script or style", async () => {
  const { look, messenger } = await openLoggedIn();
  for (const state of [connected(), pairing()]) {
    messenger.state = state;
    const body = await look();
    expect(body).not.toMatch(/<style|style=|<script(?! type="module" src=)|\son[a-z]+=/i);
  }
});

test("an action leads back to the page that its form is on, and else to the first", async () => {
  const { post } = await openLoggedIn();
  const after = async (path: string) =>
    (await post("/resume", {}, { ...ownPage, referer: `http://${host}${path}` })).headers.location;
  for (const path of ["/console", "/console/accounts", "/console/bulk"]) expect(await after(path)).toBe(path);
  for (const path of ["/console/login", "/elsewhere"]) expect(await after(path)).toBe("/console");
  expect((await post("/resume")).headers.location).toBe("/console");
});

test("a page says what is wrong, and the first also that nothing is", async () => {
  const { get, messenger } = await openLoggedIn();
  const warns = async (path: string) => !/<div id="warnings" hidden>/.test((await get(path)).body);
  messenger.state = { ...connected(), callbacks: [], failedJobs: [] };
  expect([await warns(""), await warns("/record")]).toEqual([true, false]);
  messenger.state = { ...messenger.state, paused: true };
  expect([await warns(""), await warns("/record")]).toEqual([true, true]);
});

test("a lost connection can be tried at once, unless WhatsApp has set a time", async () => {
  const { get, messenger } = await openLoggedIn();
  const offered = async (connection: Partial<ConsoleState["connection"]>) => {
    const since = new Date(0).toISOString();
    messenger.state = { ...connected(), connection: { kind: "closed", since, ...connection } };
    return !/action="\/console\/log-in" data-live hidden>/.test((await get()).body);
  };
  const retryAt = new Date(4e12).toISOString();
  expect(await offered({ answer: 408, retryAt })).toBe(true);
  expect(await offered({ answer: 402, retryAt })).toBe(false);
  expect(await offered({ kind: "open" })).toBe(false);
});

test("each job has the commands to preview, run and repeat it", async () => {
  const { get, messenger } = await openLoggedIn();
  const { body } = await get("/runs");
  expect(messenger.state.jobs?.length).toBeGreaterThan(0);
  for (const job of messenger.state.jobs ?? [])
    for (const line of [`run ${job} --dry-run`, `run ${job}`, `replay ${job}`])
      expect(body).toContain(`<code>npm run city -- notify ${line}</code>`);
});

test("the charts of messages in an hour have one scale, and the empty warning of a passkey is hidden", async () => {
  const { get, messenger } = await openLoggedIn();
  const hour = { at: new Date(0), accepted: 64, sent: 32, failed: 1, waiting: 5 };
  messenger.state = { ...pairing(), hours: [hour] };
  const { body } = await get();
  const bars = (name: string) =>
    new RegExp(`<figure class="${name}">[^]*?<path d="M0 64v-(\\d+)`).exec(body)?.[1];
  expect(["accepted", "sent", "failed", "waiting"].map(bars)).toEqual(["64", "32", "2", "64"]);
  expect(body).toMatch(/id="passkey"[^>]* hidden>/);
});

test("a bulk run has a link to its report, and can be cancelled while messages wait", async () => {
  const { get, messenger, post } = await openLoggedIn();
  const { body } = await get("/runs");
  expect(body).toContain('href="/console/bulk/report?run=vaccination-march"');
  const form = /<details>\n<summary>Cancel the run…[\s\S]+?<\/form>/.exec(body)?.[0];
  expect(form).toContain('name="run" value="vaccination-march"');
  expect(form).toContain("Cancel 1480 messages");
  await post("/cancel-run", { run: "vaccination-march" });
  expect((await get("/runs")).body).toContain("The run was not cancelled: tick the box to confirm.");
  expect(messenger.calls).toEqual([]);
  await post("/cancel-run", { run: "vaccination-march", confirmed: "yes" });
  expect(messenger.calls).toEqual(["cancel run vaccination-march"]);
  messenger.state = {
    ...messenger.state,
    runs: (messenger.state.runs ?? []).map((run) => ({ ...run, messages: {} })),
  };
  expect((await get("/runs")).body).toContain("<details hidden>\n<summary>Cancel the run…");
});

test("a run whose messages wait is handed over, not done, and says how many were sent", async () => {
  const { get, messenger } = await openLoggedIn();
  for (const path of ["/runs", "/bulk"])
    expect((await get(path)).body).toMatch(/<span class="state waiting">handed over, 1,520 of 3,000 sent</);
  messenger.state = {
    ...messenger.state,
    runs: messenger.state.runs.map((run) => ({ ...run, messages: { READ: 7 } })),
  };
  expect((await get("/runs")).body).toContain('<span class="state good">done<');
});

test("untrusted values are escaped", async () => {
  const { look, messenger } = await openLoggedIn();
  const [message] = messenger.state.messages;
  if (!message) throw new Error("no message");
  const reason = `<img src=x onerror="alert('1')">&amp;`;
  messenger.state = { ...messenger.state, messages: [{ ...message, state: "FAILED", reason }] };
  const body = await look();
  expect(body).toContain("&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;");
  expect(body).not.toContain("<img");
});

test("reports that the state cannot be read", async () => {
  const { get } = await openLoggedIn({ readState: () => Promise.reject(new Error("10.1.2.3")) });
  const { statusCode, body } = await get();
  expect(statusCode).toBe(200);
  expect(body).toContain("its state cannot be read");
  expect(body).not.toContain("10.1.2.3");
});

test("offers linking and unlinking only at the leader", async () => {
  const { look, messenger } = await openLoggedIn();
  messenger.state = { ...pairing(), leader: false };
  const body = await look();
  expect(body).toContain("Another task is the leader");
  expect(body).toMatch(/<section id="linking"[^>]* hidden>/);
  expect(body).toMatch(/<section id="unlinking"[^>]* hidden>/);
  expect(body).not.toContain('class="qr"');
});

test("no password, cookie, code or number reaches the log", async () => {
  const { post, look, browser, lines } = await openLoggedIn();
  await post("/login", { username: "typed a passphrase here", password: "wrong one" });
  await post("/pairing-code", { phone: "6281234567890" });
  await look();
  const log = lines.join("");
  expect(log).toContain("operator logged in");
  expect(log).toContain('"action":"pairing-code"');
  for (const secret of [
    operator.password,
    "passphrase",
    "wrong one",
    browser.cookie.slice(8),
    "K7PX",
    "62812345",
  ])
    expect(log).not.toContain(secret);
  expect(log).not.toContain(qrText);
});

test.each([
  ["whatsapp", "463", "akun sedang tidak boleh menulis ke kontak ini", "mintalah warga menulis lebih dulu"],
  ["cloud-api", "131056", "terlalu banyak pesan ke penerima ini", "minta pengirim mengirim lebih sedikit"],
  ["sms", "402", "saldo akun di gateway SMS habis", "Isi ulang saldo akun di gateway"],
  ["sms", "E17", "gateway SMS menolak pesan", "Cari kodenya di dokumentasi gateway"],
] as const)(
  "a message that %s has rejected with %s says what that means there, and what to do, in the page's language",
  async (channel, code, says, todo) => {
    const { get, messenger } = await openLoggedIn();
    const state = connected();
    const [message = expect.fail("has no message")] = state.messages;
    const reason = describeRejection(channel, code);
    messenger.state = { ...state, messages: [{ ...message, state: "FAILED", reason, code, channel }] };
    const { body } = await get("/messages", { "accept-language": "id" });
    expect(body).toContain(says);
    expect(body).toContain(todo);
    expect(body).not.toContain("rejected by");
  },
);
