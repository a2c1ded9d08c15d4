import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { storeBatch } from "#lib/import/load.ts";
import { residentImport } from "#lib/resident/import.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import { build } from "../../infra/build.ts";
import { startCity } from "../../infra/local/city.ts";
import { destroyServer } from "../../infra/local/postgres/server.ts";
import type { DemoEmployee } from "../../infra/local/upstream/upstreams.ts";
import { fixtures, seededResidents, toRow } from "./residents.ts";

/** What tests know of the running city. Its data stays as it is: a test that changes data starts its own. */
export interface RunningCity {
  readonly baseUrl: string;
  readonly messagingBaseUrl: string;
  readonly basic: { readonly username: string; readonly password: string };
  readonly apiKey: string;
  readonly adminUrl: string;
  readonly importerUrl: string;
  readonly partnerAdminUrl: string;
  readonly residentUrl: string;
  readonly employeeUrl: string;
  readonly sessionAdminUrl: string;
  readonly sessionUrl: string;
  readonly maintenanceUrl: string;
  readonly notifyUrl: string;
  readonly employee: DemoEmployee;
  readonly legacyAuthUrl: string;
  readonly employeeSystemUrl: string;
  readonly secretsUrl: string;
  /** The environment of each function. */
  readonly variables: Readonly<Record<string, Record<string, string>>>;
}

declare module "vitest" {
  export interface ProvidedContext {
    city: RunningCity;
  }
}

/** Builds the bundles and starts one city for all tests; its folder goes with it. */
export default async function setup(project: TestProject) {
  await build();
  const folder = mkdtempSync(join(tmpdir(), "city-"));
  const city = await startCity({
    folder,
    port: 0,
    messagingPort: 0,
    residents: seededResidents,
    durable: false,
    onAccess: () => {},
    onLog: () => {},
  });
  const importer = city.database.connectAs("importer");
  await storeBatch(importer, residentImport, fixtures.map(toRow));
  await importer.end();

  const urlOf = (role: string) => {
    const { host, port, dbname, username, password } = JSON.parse(
      city.secrets.find(`municipal/local/database/${role}`)?.value ?? "{}",
    );
    return `postgres://${username}:${password}@${host}:${port}/${dbname}`;
  };
  project.provide("city", {
    baseUrl: city.baseUrl,
    messagingBaseUrl: city.messagingBaseUrl,
    basic: city.basic,
    apiKey: city.apiKey,
    adminUrl: city.database.adminUrl,
    importerUrl: urlOf("importer"),
    partnerAdminUrl: urlOf("partner-admin"),
    residentUrl: urlOf("resident"),
    employeeUrl: urlOf("employee"),
    sessionAdminUrl: urlOf("session-admin"),
    sessionUrl: urlOf("session"),
    maintenanceUrl: urlOf("maintenance"),
    notifyUrl: urlOf("notify"),
    employee: city.upstreams.demo,
    legacyAuthUrl: city.upstreams.legacyAuthUrl,
    employeeSystemUrl: city.upstreams.employeeSystemUrl,
    secretsUrl: city.secretsUrl,
    variables: Object.fromEntries([...routes, ...authorizers].map((row) => [row.fn, city.variables(row)])),
  });
  return async () => {
    await city.stop();
    await destroyServer(`${folder}/postgres`);
    rmSync(folder, { recursive: true, force: true });
  };
}
