import { execFile } from "node:child_process";
import { chownSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import postgres from "postgres";
import { beforeAll, expect, test } from "vitest";
import { Credentials } from "#lib/db/credentials.ts";
import { localSecretName, readLocalSecret } from "../../infra/local/secrets/store.ts";
import { createCertificate } from "../../infra/local/whatsapp/media/certificate.ts";
import { useOwnCity } from "../steps/city/own-city.ts";
import { startCommand } from "../steps/command.ts";

const own = useOwnCity();
const client = fileURLToPath(new URL("./tls-client.ts", import.meta.url));
const encrypted = createCertificate();
let authority = "";

const credentials = (): Credentials =>
  Credentials.parse(JSON.parse(own.city.secrets.find("municipal/local/database/tourism")?.value ?? "{}"));

/** What the client says. @param environment all that it has. */
const logIn = async (environment: Record<string, string>) => {
  const { stdout } = await promisify(execFile)(process.execPath, [client, JSON.stringify(credentials())], {
    env: environment,
  });
  return stdout;
};

const connectAsSuperuser = () => {
  const { port } = own.city.database.server;
  const password = own.city.secrets.find("municipal/local/database/superuser")?.value ?? "";
  return postgres({ host: "127.0.0.1", port, username: "postgres", password, max: 1 });
};

const asSuperuser = async (...statements: string[]) => {
  const sql = connectAsSuperuser();
  for (const statement of statements) await sql.unsafe(statement);
  await sql.end();
};

/** A setting as a new connection has it. */
const show = async (setting: string): Promise<string> => {
  const sql = connectAsSuperuser();
  const [row] = await sql`select current_setting(${setting}) as value`;
  await sql.end();
  return row?.value;
};

/** Switches TLS on: new connections have it some time after the command. */
const startTls = async () => {
  await asSuperuser("alter system set ssl = on", "select pg_reload_conf()");
  await expect.poll(() => show("ssl")).toBe("on");
};

beforeAll(async () => {
  const folder = await show("data_directory");
  const { uid, gid } = statSync(folder);
  for (const [file, content] of Object.entries({
    "server.key": encrypted.key,
    "server.crt": encrypted.cert,
  })) {
    writeFileSync(`${folder}/${file}`, content, { mode: 0o600 });
    chownSync(`${folder}/${file}`, uid, gid);
  }
  authority = `${folder}/server.crt`;
});

test("a server without TLS is rejected, whatever it answers", async () =>
  expect(await logIn({})).not.toMatch(/true|false/));

test("a server is trusted only with a certificate of a known authority", async () => {
  await startTls();
  const knowing = { NODE_EXTRA_CA_CERTS: authority };
  expect(await logIn(knowing)).toBe("true");
  expect(await logIn({})).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY/);
});

test("the messenger's connections are encrypted, and verified too", async () => {
  await startTls();
  const environment = {
    ...own.city.variables({ secrets: { DATABASE_SECRET_ID: "database/messenger" } }),
    DATABASE_TLS: "verify-full",
  };
  const ask = async (more: Record<string, string>) => {
    const { stdout } = await promisify(execFile)(process.execPath, [client], {
      env: { ...environment, ...more },
    });
    return stdout;
  };
  expect(await ask({ NODE_EXTRA_CA_CERTS: authority })).toBe("true");
  expect(await ask({})).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY/);
});

test("a command that reaches the database through a forwarded port verifies that the certificate is the database's own", async () => {
  await startTls();
  const { city } = own;
  const list = (host: string, more: Record<string, string> = { NODE_EXTRA_CA_CERTS: authority }) => {
    const name = "database/partner-admin";
    const login = readLocalSecret(name, city.secrets);
    city.secrets.put(localSecretName(name), JSON.stringify({ ...login, host }));
    const settings = { ...city.variables({ secrets: {} }), ...more };
    const via = `127.0.0.1:${city.database.server.port}`;
    return startCommand(
      "partner",
      { ...settings, DATABASE_TLS: "verify-full" },
      ...["list", "--stage", "local", "--via", via],
    ).ended;
  };
  expect(await list("localhost")).toMatchObject({ status: 0, out: expect.stringMatching(/^partner +plan/) });
  expect(await list("database.city.example")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("ERR_TLS_CERT_ALTNAME_INVALID"),
  });
  expect(await list("localhost", {})).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/cannot be verified \(\w+\)\. NODE_EXTRA_CA_CERTS must name [^\n]+\n$/),
  });
});
