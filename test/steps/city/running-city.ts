import { rmSync } from "node:fs";
import { Batch } from "#lib/import/batch.ts";
import { storeBatch } from "#lib/import/load.ts";
import { residentImport } from "#lib/resident/import.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import { type City, startCity } from "../../../infra/local/city.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import type { DemoEmployee } from "../../../infra/local/upstream/upstreams.ts";
import { fixtures, seededResidents, toRow } from "../residents/resident-fixtures.ts";
import { cityDefaults, copyCity } from "./city-template.ts";

/** What tests know of the running city. A test that changes data starts its own city. */
export interface RunningCity {
  /** Folder of the cloud assembly, if the synthesized templates serve the city. */
  readonly assembly: string | undefined;
  /** Folder that cities of single test files are copies of. */
  readonly template: string;
  readonly baseUrl: string;
  readonly messagingBaseUrl: string;
  readonly basic: { readonly username: string; readonly password: string };
  readonly apiKey: string;
  readonly adminUrl: string;
  readonly superuserUrl: string;
  readonly importerUrl: string;
  readonly partnerAdminUrl: string;
  readonly senderAdminUrl: string;
  readonly subjectUrl: string;
  readonly residentUrl: string;
  readonly employeeUrl: string;
  readonly employeeAdminUrl: string;
  readonly messengerUrl: string;
  readonly consoleUrl: string;
  readonly notifyUrl: string;
  readonly maintenanceUrl: string;
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

const describe = (city: City): Omit<RunningCity, "assembly" | "template"> => {
  const urlOf = (role: string) => {
    const { host, port, dbname, username, password } = JSON.parse(
      city.secrets.find(`municipal/local/database/${role}`)?.value ?? "{}",
    );
    return `postgres://${username}:${password}@${host}:${port}/${dbname}`;
  };
  const password = city.secrets.find("municipal/local/database/superuser")?.value ?? "";
  return {
    baseUrl: city.baseUrl,
    messagingBaseUrl: city.messagingBaseUrl,
    basic: city.basic,
    apiKey: city.apiKey,
    adminUrl: city.database.adminUrl,
    superuserUrl: Object.assign(new URL(city.database.adminUrl), { username: "postgres", password }).href,
    importerUrl: urlOf("importer"),
    partnerAdminUrl: urlOf("partner-admin"),
    senderAdminUrl: urlOf("sender-admin"),
    subjectUrl: urlOf("subject"),
    residentUrl: urlOf("resident"),
    employeeUrl: urlOf("employee"),
    employeeAdminUrl: urlOf("employee-admin"),
    messengerUrl: urlOf("messenger"),
    consoleUrl: urlOf("console"),
    notifyUrl: urlOf("notify"),
    maintenanceUrl: urlOf("maintenance"),
    employee: city.upstreams.demo,
    legacyAuthUrl: city.upstreams.legacyAuthUrl,
    employeeSystemUrl: city.upstreams.employeeSystemUrl,
    secretsUrl: city.secretsUrl,
    variables: Object.fromEntries([...routes, ...authorizers].map((row) => [row.fn, city.variables(row)])),
  };
};

/**
 * Starts the shared city with its fixtures; stopping it deletes its folder. The bundles must have been built.
 *
 * @param template the city that it is a copy of.
 */
export const startRunningCity = async (template: string) => {
  const folder = await copyCity(template);
  const city = await startCity({ ...cityDefaults, folder, messenger: "fake", residents: seededResidents });
  const importer = city.database.connectAs("importer");
  await storeBatch(importer, residentImport, Batch.of(fixtures.map(toRow)));
  await importer.end();
  return {
    city,
    described: { ...describe(city), template },
    async stop() {
      await city.stop();
      await destroyServer(`${folder}/postgres`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
