import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { startCity } from "../../../infra/local/city.ts";
import { localSecretName } from "../../../infra/local/secrets/store.ts";

const run = promisify(execFile);

/** A closed port: a city that needs no messaging starts faster without a messenger. */
const nobody = { url: "http://127.0.0.1:1" };

/** Defaults for the cities of tests. */
export const cityDefaults = {
  port: 0,
  messagingPort: 0,
  messenger: nobody,
  residents: 50,
  durable: false,
  onAccess: () => {},
  onLog: () => {},
};

/** A copy has another port: its start creates the roles' credentials, and old ones would only fail. */
const forgetLogins = (file: string): void => {
  const secrets = Object.entries(JSON.parse(readFileSync(file, "utf8")));
  const roles = Object.keys(loginRoles) as LoginRole[];
  const logins = roles.map((role) => localSecretName(`database/${role}`));
  writeFileSync(file, JSON.stringify(Object.fromEntries(secrets.filter(([name]) => !logins.includes(name)))));
};

/**
 * The folder of a stopped city: a copy starts in a fifth of the time of a new database. Created once
 * in a run.
 */
export const makeCityTemplate = async (): Promise<string> => {
  const template = join(tmpdir(), "city-template");
  if (existsSync(template)) return template;
  const partial = `${template}.partial`;
  mkdirSync(partial, { mode: 0o711 });
  const city = await startCity({ ...cityDefaults, folder: partial });
  await city.stop();
  forgetLogins(`${partial}/secrets.json`);
  renameSync(partial, template);
  return template;
};

/** A copy of the template with its file owners: the database may run under another account, which needs access. */
export const copyCity = async (template: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "city-"));
  chmodSync(folder, 0o711);
  await run("cp", ["-a", `${template}/.`, folder]);
  return folder;
};
