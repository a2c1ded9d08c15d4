import { rmSync } from "node:fs";
import { afterAll, beforeAll, inject } from "vitest";
import { type City, type CityOptions, startCity } from "../../infra/local/city.ts";
import { destroyServer } from "../../infra/local/postgres/server.ts";
import { type Deployment, deploy } from "../template/interpreter/deploy.ts";
import { cityDefaults, copyCity } from "./city-template.ts";

export interface OwnCity {
  city: City;
  /** What the functions logged since the city began, one JSON object each. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  logged(): any[];
  /** The lines as they are, for what must not stand in them. */
  lines: string[];
  /** What serves it, where it is the templates that do. */
  deployment: Deployment | undefined;
  /** Asks as a partner. @param signal ends the wait for the answer. */
  ask(path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
}

/** A city whose gateway and functions are those of the templates. */
const served = (city: City, { baseUrl, messagingBaseUrl, renew }: Deployment): City => ({
  ...city,
  ...{ baseUrl, messagingBaseUrl },
  reload: () => void renew(),
});

/**
 * A city for one test file that breaks it, served as the running one is: by the local gateway or by the templates.
 * The bundles are those of the global set-up.
 *
 * @param findSettings what it is to be started with, asked before it starts.
 */
export const useOwnCity = (findSettings: () => Partial<CityOptions> = () => ({})): OwnCity => {
  let folder: string;
  const lines: string[] = [];
  const { assembly, template } = inject("city");
  const own = { lines, logged: () => lines.map((line) => JSON.parse(line)) } as OwnCity;
  beforeAll(async () => {
    folder = await copyCity(template);
    const city = await startCity({
      ...cityDefaults,
      folder,
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
    await destroyServer(`${folder}/postgres`);
    rmSync(folder, { recursive: true, force: true });
  });
  return own;
};
