import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SecretStore } from "../../../infra/local/secrets/store.ts";
import { marker } from "./arbitrary.ts";
import { type Finding, Tally } from "./finding.ts";

/** A JWT with a signature, and the refresh tokens and keys of the product. */
const tokens = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|\bmi[ar]_[\w-]{20,}/;

/** Files that hold secrets or messages because that is their purpose. */
const vaults =
  /^(secrets\.json|postgres\/(base|global|pg_wal|pg_xact|pg_multixact|pg_subtrans|pg_stat.*)(\/|$))/;

/** Fields of secrets that say what the others are for, and may stand in a log. */
const publicFields = ["host", "port", "dbname", "username", "role", "version", "kty", "alg", "kid"];

/** Everything in a value that is secret, and the credentials of HTTP Basic. */
const secretsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const { username, password } = value as Readonly<Record<string, unknown>>;
  return [
    ...(username && password ? [`${username}:${password}`] : []),
    ...Object.entries(value).flatMap(([field, part]) =>
      publicFields.includes(field) ? [] : secretsIn(part),
    ),
  ];
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Lists what is secret in all values of all secrets of a city. */
export const listSecrets = (store: SecretStore): string[] =>
  store
    .names()
    .flatMap((name) => store.list(name) ?? [])
    .filter(({ value }) => value !== "")
    .flatMap(({ value }) => secretsIn(parse(value)));

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .filter((file) => !vaults.test(file));

/** Watches the logs of a city for secrets and for what the attack has planted. */
export class LeakWatch {
  readonly #logs = new Tally("log lines");
  /** Secrets of the city, and their form in headers. */
  #secrets: readonly string[] = [];

  /** Adds secrets that no line may contain from now on. */
  forbid(secrets: readonly string[]): void {
    const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString("base64")]);
    this.#secrets = [...new Set([...this.#secrets, ...forms])];
  }

  #leakIn(text: string): string | undefined {
    if (text.includes(marker)) return "planted data";
    if (tokens.test(text)) return "a token or key";
    return this.#secrets.some((secret) => text.includes(secret)) ? "a secret" : undefined;
  }

  read(source: string, line: string): void {
    const leak = this.#leakIn(line);
    this.#logs.count(leak && `${leak} in a line of ${source}`);
  }

  /** @param folder of the city. */
  finish(folder: string): Finding[] {
    const files = new Tally("files of the city besides its database and its secrets");
    for (const file of listFiles(folder)) {
      const leak = this.#leakIn(readFileSync(join(folder, file), "latin1"));
      files.count(leak && `${leak} in ${file}`);
    }
    return [this.#logs.finding, files.finding];
  }
}
