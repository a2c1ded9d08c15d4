import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiError } from "#lib/errors/api-error.ts";
import { type System, serveHttp } from "../../../infra/local/loopback.ts";
import { demoPhone } from "../../../infra/local/messenger/messenger.ts";
import { useOwnCity } from "../../steps/city/own-city.ts";
import { employeeClient } from "../../steps/employee.ts";
import { download } from "../../steps/loopback.ts";
import { formOf, messagingClient } from "../../steps/messaging.ts";
import { startWire, type Wire, type WireFault, wireFaults } from "../../steps/wire.ts";
import { type Ask, type WireRow, wireTable } from "./wires.ts";

/** The platform has several hosts for uploads, with a wire to each. */
const wires = new Map<System | "media host", Wire[]>();
const lay = async (system: System | "media host", port: number) => {
  const wire = await startWire(port);
  wires.set(system, [...(wires.get(system) ?? []), wire]);
  return wire.port;
};
const own = useOwnCity(() => ({ messenger: "fake", via: lay }));
const employees = () => employeeClient(own.city.baseUrl);
const messages = () => messagingClient(own.city.messagingBaseUrl, own.city.basic);
const demo = () => own.city.upstreams.demo;
const phone = `${demoPhone.slice(0, -1)}7`;
const platform = () => own.city.messenger?.platform ?? expect.fail("the city has no platform");
const session = { token: "", refresh: "", id: "", mediaUrl: "" };
/** Texts and captions of files that were accepted, or may have been. */
const texts = { accepted: [] as string[], made: 0 };
let media: Awaited<ReturnType<typeof serveHttp>>;

beforeAll(async () => {
  media = await serveHttp(createServer((_, response) => response.end("a letter")));
  session.mediaUrl = `http://media.example:${await lay("media host", Number(new URL(media.url).port))}/`;
  const { json } = await employees().login(demo().username, demo().password);
  Object.assign(session, { token: json.token, refresh: json.refresh_token });
  await platform().until(() => platform().sockets.loggedIn > 0, 30_000);
  session.id = (await send("text")).id;
});
afterAll(async () => {
  for (const wire of [...wires.values()].flat()) wire.stop();
  await media.stop();
});

const say = ({ status, json }: { status: number; json: unknown }) =>
  status === 200 ? "200" : `${status} ${(json as { code?: string }).code}`;

const send = async (kind: "text" | "file") => {
  texts.made += 1;
  const text = `${kind} ${texts.made}`;
  const answer =
    kind === "text"
      ? // whether its number has opted out is asked first: of others the insert may be the first statement that fails
        await messages().sendMessage({ phone, message: text }, { "x-class": "reminder" })
      : await messages().sendForm("file", formOf({ phone, caption: text, file: Buffer.from("a letter") }));
  if (answer.status === 200) texts.accepted.push(text);
  return { said: say(answer), id: answer.json.data?.id as string };
};

const asks: Readonly<Record<Ask, () => Promise<string>>> = {
  residents: async () => {
    const response = await own.ask("/v1/penduduk", {});
    return say({ status: response.status, json: await response.json() });
  },
  categories: async () => {
    const response = await own.ask("/v1/pariwisata/kategori");
    return say({ status: response.status, json: await response.json() });
  },
  login: async () => say(await employees().login(demo().username, demo().password)),
  refresh: async () => {
    const answer = await employees().refresh(session.refresh);
    if (answer.status === 200) session.refresh = answer.json.refresh_token;
    return say(answer);
  },
  ticket: async () => {
    const query = { user: "servicelogin", username: demo().nip, pass: demo().passphrase };
    return say(await employees().get("tiket", query, session.token));
  },
  employees: async () => say(await employees().get("pegawai", { nama: "siti" }, session.token)),
  text: async () => (await send("text")).said,
  file: async () => (await send("file")).said,
  state: async () => say(await messages().read(session.id)),
  download: () =>
    download(session.mediaUrl, { timeoutMs: 3_000 }).then(
      () => "200",
      (error: unknown) => (error instanceof ApiError ? `${error.status} ${error.code}` : String(error)),
    ),
};

const within = (seconds: number, asked: Promise<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(`nothing within ${seconds} s`), seconds * 1_000);
    asked.then(resolve, reject).finally(() => clearTimeout(timer));
  });

/** What a row promises while its wire fails; without a fault, 200. */
const promiseOf = (row: WireRow, fault?: WireFault) => {
  const { outcome, withinSeconds } = row;
  if (!fault) return { outcome: "200", withinSeconds };
  if (fault === "slow") return row.slow ?? { outcome: "200", withinSeconds };
  const own = fault === "stall" || fault === "rubbish" ? row[fault] : undefined;
  return { outcome: own ?? outcome, withinSeconds };
};

const askAll = async (rows: readonly WireRow[], fault?: WireFault) => {
  const all = rows.flatMap((row) =>
    row.asks.map(
      async (ask) => [ask, await within(promiseOf(row, fault).withinSeconds, asks[ask]())] as const,
    ),
  );
  return Object.fromEntries(await Promise.all(all));
};

/** Asks one after another, so that each function and authorizer uses the environment that it used last. */
const askInTurn = async (rows: readonly WireRow[], fault?: WireFault) => {
  const answers = {};
  for (const row of rows)
    for (const ask of row.asks) Object.assign(answers, await askAll([{ ...row, asks: [ask] }], fault));
  return answers;
};

/** Has each authorizer run once, with credentials for which the gateway has no cached answer. */
const runAuthorizers = async () => {
  const apikey = `mia_${randomBytes(32).toString("base64url")}`;
  const partner = await fetch(`${own.city.baseUrl}/v1/penduduk`, { method: "POST", headers: { apikey } });
  const basic = { ...own.city.basic, password: apikey };
  const sender = await messagingClient(own.city.messagingBaseUrl, basic).read(session.id);
  const { json } = await employees().login(demo().username, demo().password);
  const account = await employees().get("pegawai", { nama: "siti" }, json.token);
  expect([partner.status, sender.status, account.status]).toEqual([401, 401, 200]);
};

const expected = (rows: readonly WireRow[], fault?: WireFault) =>
  Object.fromEntries(
    rows.flatMap((row) => {
      const { outcome } = promiseOf(row, fault);
      return row.asks.map((ask) => [
        ask,
        outcome instanceof RegExp ? expect.stringMatching(outcome) : outcome,
      ]);
    }),
  );

const cases = [...new Set(wireTable.map(({ wire }) => wire))].flatMap((wire) => {
  const rows = wireTable.filter((row) => row.wire === wire);
  return wireFaults.map((fault) => [wire, fault, rows] as const);
});

test.each(cases)(
  "to %s: %s has the outcomes of the table, and none when it is over",
  {
    timeout: 180_000,
  },
  async (name, fault: WireFault, rows) => {
    const laid = wires.get(name === "secrets, first use" ? "secrets" : name);
    if (!laid) throw new Error(`there is no wire to ${name}`);
    // an environment has secrets only once it was used, also that of an authorizer, whose cached answers may expire now
    const askRows = name === "secrets" ? askInTurn : askAll;
    await expect.poll(() => askRows(rows)).toEqual(expected(rows));
    if (name === "secrets") await runAuthorizers();
    if (name === "secrets, first use") own.city.reload();
    for (const wire of laid) wire.fail(fault);
    try {
      expect(await askRows(rows, fault)).toEqual(expected(rows, fault));
    } finally {
      for (const wire of laid) wire.well();
    }
    await expect.poll(() => askAll(rows)).toEqual(expected(rows));
  },
);

test("after all faults, every accepted text and file has arrived once", async () => {
  const arrived = () =>
    platform()
      .phones.find(({ number }) => number === phone)
      ?.inbox.map(({ text }) => text) ?? [];
  await platform().until(() => texts.accepted.every((text) => arrived().includes(text)), 120_000);
  expect(arrived()).toEqual([...new Set(arrived())]);
});
