import * as z from "zod/mini";
import { defaultZone, isZoneName } from "#lib/time-zone.ts";

/** Every environment variable that the product reads. No other file reads `process.env`. */
const Environment = z.object({
  /** Region of the secrets; Lambda sets it. */
  AWS_REGION: z.optional(z.string()),
  /** Credentials of the function's role; set by Lambda, absent in a container. */
  AWS_ACCESS_KEY_ID: z.optional(z.string()),
  AWS_SECRET_ACCESS_KEY: z.optional(z.string()),
  AWS_SESSION_TOKEN: z.optional(z.string()),
  /** Another Secrets Manager endpoint, such as the local one. */
  AWS_ENDPOINT_URL_SECRETS_MANAGER: z.optional(z.url()),
  /** Secret with `{host, port, dbname, username, password}` of the function's database role. */
  DATABASE_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** The same for the role with which the messenger's console reads. */
  CONSOLE_DATABASE_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** The database's address, for a function whose secret holds only a username and password. */
  DATABASE_HOST: z.optional(z.string().check(z.minLength(1))),
  DATABASE_PORT: z.optional(z.string().check(z.regex(/^\d{1,5}$/))),
  DATABASE_NAME: z.optional(z.string().check(z.minLength(1))),
  /** The backup from which the database was restored, if it was. */
  DATABASE_RESTORED_FROM: z.optional(z.string().check(z.minLength(1))),
  /** Most connections of each login role, as JSON. */
  CONNECTION_LIMITS: z.optional(z.string().check(z.minLength(2))),
  /** Prefix of the stage's secret names, such as `municipal/prod/`. */
  SECRETS_PREFIX: z.optional(z.string().check(z.regex(/\/$/))),
  /** `verify-full` checks the server's certificate against the trusted CAs; `disable` is for loopback. */
  DATABASE_TLS: z._default(z.enum(["verify-full", "disable"]), "verify-full"),
  /** Secret with `{version, pepper}` for digests of values that must not be stored in plain text. */
  PEPPER_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Secret with the key that signs access tokens, a JWK of `kty: "oct"`. */
  TOKEN_KEY_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** URL of the legacy authentication system. */
  LEGACY_AUTH_URL: z.optional(z.url()),
  /** Base URL of the employee system, before `/index.php`. */
  EMPLOYEE_SYSTEM_URL: z.optional(z.url()),
  /** Country code of the city: a leading 0 of a phone number stands for it. */
  COUNTRY_CODE: z._default(z.string().check(z.regex(/^[1-9]\d{0,2}$/)), "62"),
  /** Time zone of the city, by its IANA name: its days, and the hours of its messages. */
  TIME_ZONE: z._default(z.string().check(z.refine(isZoneName)), defaultZone),
  /** Secret with the one or two valid credentials of the messaging API. */
  BASIC_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Public addresses of the two APIs, without a trailing slash. */
  INTEGRATION_ADDRESS: z.optional(z.url()),
  MESSAGING_ADDRESS: z.optional(z.url()),
  /** URL of the bucket with the anchors of the audit's seals, in its region. */
  AUDIT_ANCHORS_URL: z.optional(z.url()),
  /** URL of the messenger. */
  MESSENGER_URL: z.optional(z.url()),
  /** Secret with the bearer `{token}` of the messenger. */
  MESSENGER_TOKEN_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Secret with the accounts that the messenger reaches by requests, such as those of the WhatsApp Business Platform. */
  MESSENGER_CHANNELS_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Address that the messenger listens on; port 0 takes a free one. */
  MESSENGER_HOST: z._default(z.string(), "0.0.0.0"),
  MESSENGER_PORT: z._default(z.string().check(z.regex(/^\d{1,5}$/)), "8080"),
  /** Seconds during which the messenger still accepts messages after SIGTERM: the time to live of its DNS record. */
  MESSENGER_LINGER_SECONDS: z._default(z.string().check(z.regex(/^\d{1,3}$/)), "0"),
  /** `careful` protects the number from being blocked; `off` is for the simulated platform. */
  MESSENGER_PACE: z._default(z.enum(["careful", "off"]), "careful"),
  /** Messages of one sender that may wait to be sent. More than a number sends until they expire: 4,500 in 72 hours. */
  MESSENGER_MAX_WAITING: z._default(z.string().check(z.regex(/^[1-9]\d{0,6}$/)), "10000"),
  /** Secret with the `{key}` that encrypts the messenger's data in the database. */
  MESSENGER_KEY_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Secret with the console's operators. */
  CONSOLE_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Issuer of OpenID Connect where the console's operators log in, and the console's client there. */
  CONSOLE_ISSUER_URL: z.optional(z.url()),
  CONSOLE_CLIENT_ID: z.optional(z.string().check(z.minLength(1))),
  /** The claim with an operator's groups. */
  CONSOLE_GROUPS_CLAIM: z._default(z.string(), "cognito:groups"),
  /** A simulated platform: its WebSocket URL, its signing key in base64, its media CA in PEM. */
  PLATFORM_URL: z.optional(z.url()),
  PLATFORM_ROOT_KEY: z.optional(z.string()),
  PLATFORM_MEDIA_CA: z.optional(z.string()),
  /** The version of WhatsApp Web to announce, such as `2.3000.1043857760`, if it is newer than the library's. */
  PLATFORM_WEB_VERSION: z.optional(z.string().check(z.regex(/^\d+\.\d+\.\d{1,10}$/))),
  /** The page that names the current version of the web client, read only after a login with an older one failed. */
  PLATFORM_VERSION_URL: z._default(z.url(), "https://web.whatsapp.com/sw.js"),
  /** Who starts pairing after the platform has removed the link; `automatic` is for the simulated platform. */
  PLATFORM_PAIRING: z._default(z.enum(["operator", "automatic"]), "operator"),
  LOG_LEVEL: z._default(z.enum(["debug", "info", "warn", "error"]), "info"),
  /** Connection string for the operator's commands, instead of the one of a running `npm run dev`. */
  DATABASE_URL: z.optional(z.string().check(z.minLength(1))),
  /** Credentials of `npm run smoke` as JSON, instead of a file. */
  SMOKE_CREDENTIALS: z.optional(z.string().check(z.minLength(1))),
});
type Environment = z.infer<typeof Environment>;

let parsed: Environment | undefined;

const environment = (): Environment => {
  if (parsed) return parsed;
  const result = Environment.safeParse(process.env);
  if (!result.success) {
    const names = [...new Set(result.error.issues.map((issue) => issue.path.join(".")))];
    throw new Error(`environment variable ${names.join(", ")} has an invalid value`);
  }
  parsed = result.data;
  return parsed;
};

/** Sets variables that are not set, such as for the stage that a command works with. */
export const setDefaults = (values: Readonly<Partial<Record<keyof Environment, string>>>): void => {
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  parsed = undefined;
};

/** Returns an environment variable, or undefined when it is not set. */
export const findSetting = <K extends keyof Environment>(name: K): Environment[K] => environment()[name];

/**
 * Returns a required environment variable.
 *
 * @throws Error that names the missing variable.
 */
export const getSetting = <K extends keyof Environment>(name: K): NonNullable<Environment[K]> => {
  const value = environment()[name];
  if (value === undefined) throw new Error(`environment variable ${name} is not set`);
  return value;
};
