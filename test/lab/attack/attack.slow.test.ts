import { createServer } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { mintedSecrets } from "#lib/secrets/table/table.ts";
import { serveHttp } from "../../../infra/local/loopback.ts";
import { localSecretName } from "../../../infra/local/secrets/store.ts";
import { useOwnCity, withCityDatabase } from "../../steps/city/own-city.ts";
import { callCommand } from "../../steps/command.ts";
import { attackAccess } from "./access.ts";
import { marker } from "./arbitrary.ts";
import type { Finding } from "./finding.ts";
import { attackDownloads } from "./forbidden-downloads.ts";
import { attackInputs } from "./inputs.ts";
import { LeakWatch, listSecrets } from "./leaks.ts";
import { attackCity, watchedBy } from "./suite.ts";
import type { Target } from "./target.ts";

vi.setConfig({ testTimeout: 240_000 });

const watch = new LeakWatch();
const own = useOwnCity(() => ({ messenger: "fake", limitsAddresses: true, ...watchedBy(watch) }));
const effort = { inputs: 20, seed: 1 };

const fallen = (findings: readonly Finding[]) => findings.filter(({ fell }) => fell.length > 0);

test("nothing falls in a short attack on the whole system", async () => {
  const scale = { ...effort, uploads: 8, slowClients: 30, flood: 3_000 };
  const findings = await attackCity(own.city, own.folder, watch, scale);
  expect(fallen(findings)).toEqual([]);
  expect(findings.filter(({ tried }) => tried === 0)).toEqual([]);
});

/** A system that answers every request alike. */
const startWrongSystem = async (status: number, body: string): Promise<Target> => {
  const server = createServer((request, response) => {
    request
      .resume()
      .on("end", () => response.writeHead(status, { "content-type": "application/json" }).end(body));
  });
  const { url, stop } = await serveHttp(server, 0, 0);
  onTestFinished(stop);
  const addresses = { integration: url, messaging: url };
  return { addresses, unlimited: addresses, credentials: {}, pace: async () => {} };
};

test.each([
  ["a failure", 500, '{"status":"error","code":"internal_error","message":"","request_id":"1"}'],
  ["an undocumented status", 418, '{"status":"error","code":"teapot","message":"","request_id":"1"}'],
  ["another body than the documented one", 200, "[1]"],
])("generated inputs notice %s of every route", async (_, status, body) => {
  const findings = await attackInputs(await startWrongSystem(status, body), effort);
  expect(findings.length).toBeGreaterThan(10);
  expect(fallen(findings)).toEqual(findings);
});

test("the access matrix notices routes that are open to anyone", async () => {
  const [finding] = await attackAccess(await startWrongSystem(200, "{}"));
  expect(finding?.fell).toContainEqual("POST /v1/penduduk with nothing is 200, not 401");
});

test("the forbidden addresses notice a download that may connect anywhere", async () => {
  const [finding] = await attackDownloads({ inputs: 200, seed: 1 }, () => undefined);
  expect(finding?.fell).toEqual([expect.stringContaining("it connects to")]);
});

test("the watch notices planted data, tokens and secrets in a log", () => {
  const watched = new LeakWatch();
  watched.forbid(["correct horse battery"]);
  const basic = Buffer.from("correct horse battery").toString("base64");
  const lines = ["fine", marker, `Bearer mir_${"a".repeat(30)}`, "correct horse battery", `Basic ${basic}`];
  for (const line of lines) watched.read("a function", line);
  const [logs] = watched.finish(own.folder);
  expect([logs?.tried, logs?.fell.length]).toEqual([5, 4]);
});

test("the watch notices every secret of the city in a log, also as a part of a line and in a header", () => {
  const { secrets } = own.city;
  const read = (name: Parameters<typeof localSecretName>[0]) =>
    JSON.parse(secrets.find(localSecretName(name))?.value ?? "null");
  const { credentials } = read("messaging-basic");
  const values: string[] = [
    ...(Object.keys(loginRoles) as LoginRole[]).map((role) => read(`database/${role}`).password),
    ...[read("database/admin").password, credentials[0].password, read("messenger-console").users[0].hash],
    ...[read("messenger-token").token, read("messenger-key").key, read("token-key").k],
    ...(["audit-pepper", "attempt-pepper", "opt-out-pepper"] as const).map((name) => read(name).pepper),
    ...[read("demo-passwords").password, read("demo-passwords").passphrase],
    ...(["database/superuser", "demo-api-key", "demo-operator"] as const).map(
      (name) => secrets.find(localSecretName(name))?.value ?? "",
    ),
  ];
  const watched = new LeakWatch();
  watched.forbid(listSecrets(secrets));
  for (const value of values) {
    watched.read("a function", `{"message":"opened with ${value}"}`);
    watched.read("a function", `Basic ${Buffer.from(value).toString("base64")}`);
  }
  const [logs] = watched.finish(own.folder);
  expect(values.filter((value) => value.length < 8)).toEqual([]);
  // the city has no account at another platform
  const filled = mintedSecrets.filter((name) => name !== "messenger-channels");
  expect([values.length, logs?.fell.length]).toEqual([
    filled.length + Object.keys(loginRoles).length + 6,
    2 * values.length,
  ]);
});

test("the watch notices planted data in the database server's log", async () => {
  await withCityDatabase(own)((sql) => sql.unsafe(`select '${marker}'::integer`)).catch(() => {});
  await expect
    .poll(() => watch.finish(own.folder)[0]?.fell)
    .toContain("planted data in a line of the database's log");
});

test("a stage is not attacked without consent to its host", async () => {
  const addresses = ["--base-url", "https://api.example.go.id", "--messaging-base-url", "http://127.0.0.1:1"];
  const call = [...addresses, "--consent", "example.go.id"];
  const { status, errors } = await callCommand(() => import("./attack.ts"), {}, ...call);
  expect([status, errors]).toEqual([2, expect.stringContaining("needs --consent api.example.go.id")]);
});
