import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { withAddresses } from "#lib/openapi/addresses.ts";
import { isDescribed } from "#lib/openapi/document.ts";
import { languages } from "#lib/openapi/words.ts";
import { routes } from "#lib/routes/index.ts";
import { guideNames } from "../../infra/docs/guide.ts";
import type { DevFile } from "../../infra/local/announcement.ts";
import { destroyServer } from "../../infra/local/postgres/server.ts";
import { makeCheckout } from "../steps/checkout.ts";
import { employeeClient } from "../steps/employee.ts";
import { messagingClient } from "../steps/messaging.ts";
import { composeScript, readBlocks, readGuideText } from "../steps/shell-lines.ts";
import { programs } from "./program.ts";
import { readSignedEvent } from "./vector.ts";

/** The whole system is started once; each text is one script. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 240_000 });

/** The system's folder `.local` is where the lines look for it. */
const { folder: checkout, devProgram, remove } = makeCheckout();
const local = `${checkout}/.local`;
let dev: DevFile;
let variables: Record<string, string>;

const end = async (system: ChildProcess) => {
  system.kill("SIGTERM");
  if (system.exitCode === null) await once(system, "exit");
  await destroyServer(`${local}/postgres`);
  remove();
};

let system: ChildProcess;
beforeAll(async () => {
  const args = [devProgram, "--folder", local, "--residents", "200", "--port", "0", "--messaging-port", "0"];
  args.push("--console-port", "0", "--platform-port", "0");
  system = spawn(process.execPath, args, { stdio: "ignore" });
  await vi.waitUntil(() => existsSync(`${local}/dev.json`), { timeout: 180_000, interval: 200 });
  dev = JSON.parse(readFileSync(`${local}/dev.json`, "utf8"));
  variables = await prepareVariables();
});
afterAll(() => end(system));

/** What the lines expect their reader to have. */
const prepareVariables = async () => {
  const { apiKey, basic, employee, phone, platformUrl } = dev;
  const { username, password, nip, passphrase } = employee;
  const client = employeeClient(dev.baseUrl);
  // on a busy machine the first connections to the database take longer than a function's 2.6 s: it answers 500
  const logIn = () => client.login(username, password);
  await vi.waitUntil(async () => (await logIn()).status === 200, { timeout: 180_000, interval: 200 });
  const { token, refresh_token } = (await logIn()).json;
  const ticket = await client.get("tiket", { user: "servicelogin", username: nip, pass: passphrase }, token);
  const sent = await messagingClient(dev.messagingBaseUrl, basic).sendMessage({ phone, message: "x" });
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const later = await messagingClient(dev.messagingBaseUrl, basic).sendMessage(
    { phone, message: "x" },
    { "x-send-at": inAnHour },
  );
  copyFileSync("lib/docs/pictures/console.light.png", `${checkout}/receipt.png`);
  writeFileSync(`${checkout}/letter.txt`, "a letter");
  return {
    ...{ KEY: apiKey, AUTH: `${basic.username}:${basic.password}`, PHONE: phone ?? "" },
    ...{ EMPLOYEE_USERNAME: username, EMPLOYEE_PASSWORD: password, NIP: nip, PASS: passphrase },
    ...{
      TOKEN: token,
      REFRESH_TOKEN: refresh_token,
      TICKET: ticket.json.tiket,
      MESSAGE_ID: sent.json.data.id,
      LATER_ID: later.json.data.id,
    },
    // a simulated legacy system, whose failure mode the guide to contributors sets and resets
    URL: dev.legacyAuthUrl,
    ...readSignedEvent(),
    PLATFORM: platformUrl ?? "",
  };
};

const addressed = (markdown: string) =>
  withAddresses(markdown, { integration: dev.baseUrl, messaging: dev.messagingBaseUrl });

/** Runs the curl calls of a text; every one has to run and succeed. */
const run = async (markdown: string, least = 1) => {
  const { script, calls } = composeScript(addressed(markdown));
  expect(calls).toBeGreaterThanOrEqual(least);
  writeFileSync(`${checkout}/script.sh`, script);
  const path = `${resolve("node_modules/.bin")}:/usr/local/bin:/usr/bin:/bin`;
  const child = spawn("bash", ["script.sh"], {
    cwd: checkout,
    env: { ...variables, PATH: path, HOME: checkout, npm_config_offline: "true", REDOCLY_TELEMETRY: "off" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect(code, errors).toBe(0);
  const made = readFileSync(`${checkout}/calls`, "utf8").trim().split("\n");
  expect([...new Set(made)]).toHaveLength(calls);
};

const asking = guideNames.filter((name) => readGuideText("en", name).includes("\ncurl "));
const readme = readFileSync("README.md", "utf8");

test("each picture is shown in the README or in a guide", () => {
  const shown = [readme, ...guideNames.map((name) => readGuideText("en", name))].join("\n");
  for (const file of readdirSync("lib/docs/pictures")) expect(shown).toContain(`/pictures/${file}`);
});

test("what the README's commands write is ignored by git", () => {
  const written = ["dist/x", ".local/x", "cdk.out/x", "node_modules/x", "residents.rejected.csv"];
  expect(
    execFileSync("git", ["check-ignore", ...written], { encoding: "utf8" })
      .trim()
      .split("\n"),
  ).toEqual(written);
});

test("the curl lines of the document work, with at least one for each endpoint", async () => {
  const { paths } = (await (await fetch(`${dev.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { "x-codeSamples"?: readonly [{ label: string; source: string }] }>>;
  };
  const samples = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ "x-codeSamples": own }) => own?.[0] ?? []),
  );
  expect(samples.map(({ label }) => label)).toEqual(routes.filter(isDescribed).map(() => "curl"));
  await run(samples.map(({ source }) => `\`\`\`sh\n${source}\n\`\`\``).join("\n\n"), samples.length);
});

test.each(asking)("the curl lines of the guide %s work", (name) => run(readGuideText("en", name)));

/** Receivers run until they are ended: `signature.test.ts`. */
const ending = readdirSync("lib/docs/examples").filter((file) => file !== "signature.md");

test.each(ending)("the examples in %s work", async (file) => {
  const blocks = readBlocks(addressed(readFileSync(`lib/docs/examples/${file}`, "utf8")));
  expect(blocks.map(({ language }) => language)).toEqual(["ts", "python", "php"]);
  for (const { language, program, name } of programs) {
    writeFileSync(`${checkout}/${name}`, blocks.find((block) => block.language === language)?.text ?? "");
    // a refresh token works once
    const { username, password } = dev.employee;
    const { refresh_token } = (await employeeClient(dev.baseUrl).login(username, password)).json;
    const env = { ...variables, REFRESH_TOKEN: refresh_token };
    const child = spawn(program, [name], { cwd: checkout, env });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    expect([language, code, errors]).toEqual([language, 0, ""]);
    expect(output).not.toMatch(language === "ts" ? /undefined|NaN/ : /None/);
  }
});

/** What a shell block needs an AWS account for. */
const needsAws = /\b(aws|npx cdk) |AWS_REGION|DATABASE_SECRET_ID|--stage/;

describe("the guides", () => {
  test("with curl lines are found", () =>
    expect(asking).toEqual(
      expect.arrayContaining(["quick-start", "app-builder", "cors", "partner", "sending", "contributor"]),
    ));

  test("have the same headings and blocks in every language", () => {
    const headings = (text: string) => text.replace(/^```.*?^```$/gms, "").match(/^#+ /gm);
    for (const name of guideNames) {
      const english = readGuideText("en", name);
      for (const language of languages) {
        const guide = readGuideText(language, name);
        expect([name, headings(guide)]).toEqual([name, headings(english)]);
        expect(readBlocks(guide)).toEqual(readBlocks(english));
      }
    }
  });

  test("mark the blocks that need an AWS account, and no others", () => {
    for (const name of guideNames)
      for (const { language, mark, text } of readBlocks(readGuideText("en", name)))
        if (language === "sh") expect([text, mark === "cloud"]).toEqual([text, needsAws.test(text)]);
  });
});

describe("the README and the guides", () => {
  const guides = guideNames.flatMap((name) => languages.map((language) => readGuideText(language, name)));
  const texts = [readme, ...guides].join("\n");

  test("use no variable that a shell sets or reserves", () => {
    const words = readFileSync("lib/openapi/words/employee.ts", "utf8");
    const reserved = /\$\{?(USERNAME|USER|LOGNAME|UID|EUID|GID|SECONDS|RANDOM|status|path|argv)\b/g;
    expect([...`${texts}${words}`.matchAll(reserved)].map(([name]) => name)).toEqual([]);
  });

  test("name commands that exist", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const named = texts.matchAll(/npm run (?:--silent )?([\w:-]+)/g);
    for (const [, name = ""] of named) expect(Object.keys(scripts)).toContain(name);
  });

  test("name files that exist", () => {
    const named = [...texts.matchAll(/`((?:functions|infra|lib|test)\/[\w./-]+\.\w+)`/g)];
    expect(named.length).toBeGreaterThan(20);
    for (const [, file = ""] of named) expect([file, existsSync(file)]).toEqual([file, true]);
  });

  test("are all linked from the README, which starts with the two commands and has at most 200 lines", () => {
    for (const name of guideNames) expect(readme).toContain(`(lib/docs/guides/en/${name}.md)`);
    for (const [, link = ""] of readme.matchAll(/\]\(([\w./-]+\.md)\)/g))
      expect([link, existsSync(link)]).toEqual([link, true]);
    for (const line of ["npm ci && npm run dev", "npm ci && npm test"]) expect(readme).toContain(line);
    expect(readme.split("\n").length).toBeLessThanOrEqual(200);
  });
});
