import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { database, stageEachTest, start } from "../fleet/running-task.ts";
import { openBulkConsole } from "../steps/bulk-console.ts";
import { operator, userOf } from "../steps/console.ts";
import { textOf } from "../steps/page-text.ts";

stageEachTest();

const sari = { username: "Sari", password: "correct horse 1" };
const budi = { username: "budi", password: "correct horse 2" };
const viewer = { username: "viewer", password: "correct horse 3" };
const users = await Promise.all([
  userOf(operator),
  userOf(sari, "operator"),
  userOf(budi, "operator"),
  userOf(viewer, "viewer"),
]);
const startStage = async (findUsers: () => Promise<typeof users> = async () => users) => {
  const task = await start(undefined, {}, { findUsers });
  return { url: task.url, sariConsole: await openBulkConsole(task.url, sari) };
};
const proposal = { template: "news", text: "Halo {{name}}", class: "bulk", values: "name=words:20\r\n" };
const header = "phone,name,subject,details";
const states = async () =>
  (await database.admin`select state from messaging.message order by seq`).map(({ state }) => state);

test("a text that one login proposes is approved by another, not by the same, and then sent", async () => {
  const { url, sariConsole } = await startStage();
  expect((await sariConsole.send("template-add", proposal)).text).toContain("news 1 is a draft.");
  expect(await sariConsole.read()).toContain("You wrote it: another operator approves it.");
  const version = { template: "news", version: "1" };
  expect((await sariConsole.send("template-approve", version)).text).toContain(
    "Nothing was sent or changed: Sari wrote it: another operator must approve it",
  );
  const csv = "phone,name\n6281200000001,Siti\n";
  expect((await sariConsole.preview(csv, { template: "news" })).text).toContain("there is no template news");
  const budiConsole = await openBulkConsole(url, budi);
  expect((await budiConsole.send("template-approve", version)).text).toContain("news 1 is sent from now on.");
  expect((await sariConsole.preview(csv, { template: "news" })).text).toContain("Halo S•••");
  const [row] = await database.admin`select author, approver from notification.template`;
  expect(row).toEqual({ author: "Sari", approver: "budi" });
  const acts = await database.admin`
    select name, action, subject, result from messaging.operator_act join messaging.operator_result on act = id
    where action like 'template%' order by id`;
  expect(acts.map(({ name, action, subject, result }) => [name, action, subject, result])).toEqual([
    ["Sari", "template-add", "news", "done"],
    ["Sari", "template-approve", "news 1", "failed"],
    ["budi", "template-approve", "news 1", "done"],
  ]);
});

test("only what was previewed is sent, and only by whom may send", async () => {
  const { url, sariConsole } = await startStage();
  const fields = { template: "reminder", class: "bulk", run: "tax" };
  const [one, other] = ["6281200000001", "6281200000002"].map(
    (phone) => `${header}\n${phone},Siti,Pajak,Bayar\n`,
  );
  const { fingerprint } = await sariConsole.preview(one ?? "", fields);
  const start = { ...fields, previewed: fingerprint };
  for (const [wanted, csv] of [
    [start, other],
    [{ ...start, class: "transactional" }, one],
    [{ ...start, run: "tax-2" }, one],
    [{ ...start, previewed: "" }, one],
  ] as const)
    expect((await sariConsole.send("bulk-start", wanted, csv)).text).toContain(
      "this is not what the preview has shown; preview the file again",
    );
  const watcher = await openBulkConsole(url, viewer);
  expect((await watcher.send("bulk-start", start, one)).text).toContain("Your role does not allow this");
  expect(await states()).toEqual([]);
  expect((await sariConsole.send("bulk-start", start, one)).text).toContain("The run tax has started.");
  await expect.poll(states).toEqual(["PENDING"]);
  const acts = await database.admin`
    select name, action, subject from messaging.operator_act where action like 'bulk%' order by id desc limit 2`;
  expect(acts.map(({ name, action, subject }) => [name, action, subject])).toEqual([
    ["Sari", "bulk-start", "tax reminder"],
    ["viewer", "bulk-start", "tax reminder"],
  ]);
});

/** Stores a text that a second operator has approved. */
const putVersion = (name: string, version: number, text: string) => database.admin`
  insert into notification.template (name, version, text, author, approver, approved_at)
  values (${name}, ${version}, ${text}, 'sari', 'budi', now())`;

test("a text that was approved after the preview is not sent, even if the previewed message is the same", async () => {
  const { sariConsole } = await startStage();
  await putVersion("status-change", 1, "{{name}}: {{status}}\n{{next}}");
  const person = (phone: string, next: string) => `${phone},Siti,KTP,1,selesai,${next}\n`;
  const csv = `phone,name,document,number,status,next\n${person("6281200000001", "")}${person("6281200000002", "Ambil")}`;
  const fields = { template: "status-change", class: "transactional", run: "cards" };
  const { fingerprint } = await sariConsole.preview(csv, fields);
  await putVersion("status-change", 2, "{{name}}: {{status}}\nTransfer Rp 1.000.000: {{next}}");
  const { text } = await sariConsole.send("bulk-start", { ...fields, previewed: fingerprint }, csv);
  expect(text).toContain("this is not what the preview has shown; preview the file again");
  expect(await states()).toEqual([]);
});

test("clients that go while their login is checked leave room for the next file", async () => {
  const asked: PromiseWithResolvers<typeof users>[] = [];
  let isSlow = false;
  const { url, sariConsole } = await startStage(() => {
    const question = Promise.withResolvers<typeof users>();
    if (isSlow) asked.push(question);
    else question.resolve(users);
    return question.promise;
  });
  isSlow = true;
  const leaving = new AbortController();
  const origin = new URL(url).origin;
  const uploads = [1, 2].map(() =>
    fetch(`${url}/console/bulk/bulk-preview`, {
      method: "POST",
      headers: { cookie: sariConsole.cookie, origin, "content-type": "multipart/form-data; boundary=b" },
      body: "--b--",
      signal: leaving.signal,
    }).catch(() => undefined),
  );
  await expect.poll(() => asked.length).toBe(2);
  leaving.abort();
  await Promise.all(uploads);
  // the task has learned of it by then
  await sariConsole.get("/none");
  isSlow = false;
  for (const { resolve } of asked) resolve(users);
  const { text } = await sariConsole.preview(`${header}\n6281200000001,A,B,C\n`, { template: "reminder" });
  expect(text).toContain("will be sent 1");
});

test("a text is approved while as many files are received as there is room for", async () => {
  const { url, sariConsole } = await startStage();
  await database.admin`select notification.add_template('news', 'Halo', 'bulk', '{}', 'budi')`;
  const { hostname, port, host } = new URL(url);
  const slow = [1, 2, 3].map(() => connect(Number(port), hostname));
  onTestFinished(() => slow.forEach((socket) => void socket.destroy()));
  for (const socket of slow)
    socket.write(
      `POST /console/bulk/bulk-preview HTTP/1.1\r\nhost: ${host}\r\norigin: http://${host}\r\ncookie: ${sariConsole.cookie}\r\n` +
        "content-type: multipart/form-data; boundary=b\r\ncontent-length: 1000\r\n\r\n--b",
    );
  // for the third there is none
  const [answer] = await Promise.race(slow.map((socket) => once(socket, "data")));
  expect(String(answer)).toContain("303 See Other");
  const form = new URLSearchParams({ template: "news", version: "1" });
  const approved = await sariConsole.post("template-approve", form);
  expect(textOf(await approved.text())).toContain("news 1 is sent from now on.");
});

test("a draft is shown however many versions of other templates there were", async () => {
  const { sariConsole } = await startStage();
  for (let version = 1; version <= 40; version++) await putVersion("proof", version, "Halo");
  await putVersion("reminder", 1, "Halo");
  await database.admin`select notification.add_template('zakat', 'Halo', 'bulk', '{}', 'budi')`;
  const page = await sariConsole.read();
  expect(page).toContain("draft zakat 1");
  expect(page).toContain("approved reminder 1");
});

test("a text that the code does not take any more leaves the others usable", async () => {
  const { sariConsole } = await startStage();
  // of a template that was in code
  await putVersion("gone", 1, "Halo");
  expect(await sariConsole.read()).not.toContain("Bulk runs and templates are unavailable.");
  const { text } = await sariConsole.preview(`${header}\n6281200000001,A,B,C\n`, { template: "reminder" });
  expect(text).toContain("will be sent 1");
  expect((await sariConsole.send("template-retire", { template: "gone", version: "1" })).text).toContain(
    "gone 1",
  );
});

test.each([
  ["without a line", "", "The file is empty."],
  [
    "without columns",
    "phone,jalan\n",
    "these are missing: name, subject, details. Found: phone, jalan. Expected: phone,name,subject,details,country",
  ],
  [
    "with a bad number",
    `${header}\n08,A,B,C\n`,
    "2 •••••• invalid number phone must be a number with country code",
  ],
  [
    "with an open quote",
    `${header}\n6281200000001,A,B,C\n6281200000002,"A,B,C\n`,
    "3 invalid values the quotes do not match",
  ],
  ["with a short line", `${header}\n6281200000001,A,B\n`, "2 6281••••••01 invalid values"],
  [
    "with too many lines",
    `${header}\n${"6281200000001,A,B,C\n".repeat(20_001)}`,
    "the file has more than 20000 recipients; split it",
  ],
])("a file %s is rejected, by line where it has one", async (_, csv, said) => {
  const { sariConsole } = await startStage();
  const { text } = await sariConsole.preview(csv, { template: "reminder" });
  expect(text.replaceAll(/•+/g, "••••••")).toContain(said);
  expect(await database.admin`select from notification.run`).toHaveLength(0);
});

test("a file is read only from an operator's own page, and only up to its limit", async () => {
  const { url, sariConsole } = await startStage();
  const form = () => {
    const fields = new FormData();
    fields.set("template", "reminder");
    fields.set("file", new File([`${header}\n`], "people.csv"));
    return fields;
  };
  const other = await sariConsole.post("bulk-preview", form(), { origin: "http://localhost:1" });
  expect(other.status).toBe(403);
  const stranger = await fetch(`${url}/console/bulk/bulk-preview`, {
    method: "POST",
    headers: { origin: new URL(url).origin, "sec-fetch-site": "same-origin" },
    body: form(),
    redirect: "manual",
  });
  expect([stranger.status, stranger.headers.get("location")]).toEqual([303, "/console/login"]);
  const large = `${header}\n${"x".repeat(4 * 1024 * 1024 + 20_000)}`;
  const rejected = await sariConsole.preview(large, { template: "reminder" }).catch(() => undefined);
  if (rejected) expect(rejected.text).toContain("The file is larger than 4 MB: split it.");
  else expect(await sariConsole.read()).toContain("The file is larger than 4 MB: split it.");
});

test("the sample file of each template is accepted as it is", async () => {
  const { sariConsole } = await startStage();
  const samples = [...(await (await sariConsole.get("")).text()).matchAll(/sample\?template=([a-z-]+)/g)];
  expect(samples.length).toBeGreaterThan(2);
  for (const [, template = ""] of samples) {
    const sample = await sariConsole.get(`/sample?template=${template}`);
    expect(sample.headers.get("content-disposition")).toBe(`attachment; filename="${template}.csv"`);
    const { text } = await sariConsole.preview(await sample.text(), { template });
    expect(text).toContain("will be sent 1 sent before 0");
  }
  expect((await sariConsole.get("/sample?template=none")).status).toBe(404);
});

test("one file is worked on at a time, and the report of an unknown run is not found", async () => {
  const { sariConsole } = await startStage();
  const lines = Array.from({ length: 5_000 }, (_, row) => `62811${1_000_000 + row},A,B,C\n`).join("");
  const previews = await Promise.all(
    [1, 2].map(() => sariConsole.preview(`${header}\n${lines}`, { template: "reminder" })),
  );
  const isBusy = ({ text }: { text: string }) => text.includes("this task works on another file");
  expect(previews.filter(isBusy)).toHaveLength(1);
  for (const run of ["none", "..%2f", ""])
    expect((await sariConsole.get(`/report?run=${run}`)).status).toBe(404);
});
