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
import { startCity } from "../../infra/local/city.ts";
import { localSecretName } from "../../infra/local/secrets/local-secret.ts";

const run = promisify(execFile);

/** Where nobody listens: a city that needs no messaging starts sooner without. */
const nobody = { url: "http://127.0.0.1:1" };

/** What every city of a test has; those that need more say so. */
export const cityDefaults = {
  port: 0,
  messagingPort: 0,
  messenger: nobody,
  residents: 50,
  durable: false,
  onAccess: () => {},
  onLog: () => {},
};

/** A copy has another port: the roles' credentials are made at its start, and none before them is worth a try. */
const forgetLogins = (file: string): void => {
  const secrets = Object.entries(JSON.parse(readFileSync(file, "utf8")));
  const roles = Object.keys(loginRoles) as LoginRole[];
  const logins = roles.map((role) => localSecretName(`database/${role}`));
  writeFileSync(file, JSON.stringify(Object.fromEntries(secrets.filter(([name]) => !logins.includes(name)))));
};

/**
 * The folder of a stopped city: a copy of it starts in a fifth of the time that a new database takes. Made once
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

/** A copy of the template, with the owners of its files: the database's may be another account's, which must get in. */
export const copyCity = async (template: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "city-"));
  chmodSync(folder, 0o711);
  await run("cp", ["-a", `${template}/.`, folder]);
  return folder;
};
