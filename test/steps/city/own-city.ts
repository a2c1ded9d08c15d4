import { rmSync } from "node:fs";
import postgres from "postgres";
import { afterAll, beforeAll, inject } from "vitest";
import { type City, type CityOptions, startCity } from "../../../infra/local/city.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import { type Deployment, deploy } from "../../interpreter/deploy.ts";
import { cityDefaults, copyCity } from "./city-template.ts";

export interface OwnCity {
  city: City;
  /** Of its database and secrets. */
  folder: string;
  /** What the functions have logged since the city started, one JSON object per line. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  logged(): any[];
  /** The raw lines, to check what they must not contain. */
  lines: string[];
  /** The deployment, if the templates serve the city. */
  deployment: Deployment | undefined;
  /** Sends a request as a partner. @param signal aborts it. */
  ask(path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
}

/** A city whose gateway and functions are those of the templates. */
const served = (city: City, { baseUrl, messagingBaseUrl, renew }: Deployment): City => ({
  ...city,
  ...{ baseUrl, messagingBaseUrl },
  reload: () => void renew(),
});

/**
 * A city for one test file that changes it, served like the running one: by the local gateway or by the templates.
 * The bundles are those of the global set-up.
 *
 * @param findSettings returns the settings; called before the city starts.
 */
export const useOwnCity = (findSettings: () => Partial<CityOptions> = () => ({})): OwnCity => {
  const lines: string[] = [];
  const { assembly, template } = inject("city");
  const own = { lines, logged: () => lines.map((line) => JSON.parse(line)) } as OwnCity;
  beforeAll(async () => {
    own.folder = await copyCity(template);
    const city = await startCity({
      ...cityDefaults,
      folder: own.folder,
      onAccess: (line) => lines.push(JSON.stringify({ access: line })),
      onLog: (_, line) => lines.push(line),
      ...findSettings(),
    });
    own.deployment = assembly ? await deploy(assembly, city, (line) => lines.push(line)) : undefined;
    own.city = own.deployment ? served(city, own.deployment) : city;
    own.ask = (path, body, signal) =>
      fetch(`${own.city.baseUrl}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { apikey: own.city.apiKey, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
  });
  afterAll(async () => {
    await own.deployment?.stop();
    await own.city.stop();
    await destroyServer(`${own.folder}/postgres`);
    rmSync(own.folder, { recursive: true, force: true });
  });
  return own;
};

/** Runs work as the administrator of an own city's database. */
export const withCityDatabase =
  (own: OwnCity) =>
  async <T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
    const sql = postgres(own.city.database.adminUrl, { max: 1, onnotice: () => {} });
    return work(sql).finally(() => sql.end());
  };
