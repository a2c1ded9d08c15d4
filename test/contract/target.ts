import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { findSetting } from "#lib/config.ts";
import { WrongCall } from "../../infra/cli/command.ts";
import type { ApiName, Credentials, Need } from "./system.ts";

/** Some fields of `.local/dev.json`. */
const Given = z.object({
  baseUrl: z.optional(z.string()),
  messagingBaseUrl: z.optional(z.string()),
  apiKey: z.optional(z.string()),
  basic: z.optional(z.object({ username: z.string(), password: z.string() })),
  employee: z.optional(
    z.object({
      username: z.optional(z.string()),
      password: z.optional(z.string()),
      nip: z.optional(z.string()),
      passphrase: z.optional(z.string()),
    }),
  ),
});
type Given = z.infer<typeof Given>;

const accountFields = "employee.username and employee.password in the credentials";

/** How the operator provides what a case needs. */
export const howToProvide: Readonly<Record<Need, string>> = {
  apiKey: "apiKey in the credentials",
  basic: "basic.username and basic.password in the credentials",
  account: `--login, with ${accountFields}`,
  employee: "employee.nip and employee.passphrase in the credentials",
  phone: "--send-to PHONE",
};

export interface TargetOptions {
  readonly baseUrl?: string | undefined;
  readonly messagingBaseUrl?: string | undefined;
  /** A file. Default: the environment. */
  readonly credentials?: string | undefined;
  readonly login: boolean;
  readonly sendTo?: string | undefined;
}

/** The addresses of a stage, and credentials for it. */
export interface Target {
  readonly addresses: Readonly<Record<ApiName, string>>;
  readonly credentials: Credentials;
}

const readFile = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new WrongCall(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
};

/** Error messages never quote the contents. */
const readGiven = (file: string | undefined): Given => {
  const text = file === undefined ? findSetting("SMOKE_CREDENTIALS") : readFile(file);
  if (text === undefined) return {};
  const source = file ?? "SMOKE_CREDENTIALS";
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new WrongCall(`${source} is not JSON`);
  }
  const given = Given.safeParse(json);
  if (given.success) return given.data;
  const fields = given.error.issues.map(({ path }) => path.join(".") || "the top level").join(", ");
  throw new WrongCall(`${source} does not have the shape of .local/dev.json: ${fields}`);
};

/** Whether a host, as in a parsed URL, is this machine. */
export const isLoopback = (host: string): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(host);

const readAddress = (option: string, text: string | undefined): string => {
  if (text === undefined)
    throw new WrongCall(
      `--${option} is missing, and so is the field in the credentials. Example: https://api.example.go.id/api`,
    );
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  if (!plain)
    throw new WrongCall(
      `--${option} must be an address without credentials, query and fragment, such as https://api.example.go.id/api`,
    );
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw new WrongCall(`--${option} must be https, or credentials would be sent unencrypted`);
  return url.href.replace(/\/+$/, "");
};

const readPhone = (text: string): string => {
  if (/^[1-9]\d{7,14}$/.test(text)) return text;
  throw new WrongCall("--send-to must be a number with country code and without +, such as 6281234567890");
};

/** @throws WrongCall that names what is missing or wrong. */
export const readTarget = (options: TargetOptions): Target => {
  const given = readGiven(options.credentials);
  const { username, password, nip, passphrase } = given.employee ?? {};
  const account = username && password ? { username, password } : undefined;
  const phone = options.sendTo;
  if (options.login && !account) throw new WrongCall(`--login needs ${accountFields}`);
  if (phone !== undefined && !given.basic) throw new WrongCall(`--send-to needs ${howToProvide.basic}`);
  return {
    addresses: {
      integration: readAddress("base-url", options.baseUrl ?? given.baseUrl),
      messaging: readAddress("messaging-base-url", options.messagingBaseUrl ?? given.messagingBaseUrl),
    },
    credentials: {
      apiKey: given.apiKey,
      basic: given.basic,
      account: options.login ? account : undefined,
      employee: nip && passphrase ? { nip, passphrase } : undefined,
      phone: phone === undefined ? undefined : readPhone(phone),
    },
  };
};
