import * as z from "zod/mini";

/** Every environment variable that the product reads. Nothing else touches `process.env`. */
const Environment = z.object({
  /** Region of the secrets; Lambda sets it. */
  AWS_REGION: z.optional(z.string()),
  /** Credentials of the function's own role; Lambda sets them, and a container has none here. */
  AWS_ACCESS_KEY_ID: z.optional(z.string()),
  AWS_SECRET_ACCESS_KEY: z.optional(z.string()),
  AWS_SESSION_TOKEN: z.optional(z.string()),
  /** Another Secrets Manager endpoint, such as the local one. */
  AWS_ENDPOINT_URL_SECRETS_MANAGER: z.optional(z.url()),
  /** Secret with `{host, port, dbname, username, password}` of the function's database role. */
  DATABASE_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Where the database is, for whoever is given the administrator's name and password alone. */
  DATABASE_HOST: z.optional(z.string().check(z.minLength(1))),
  DATABASE_PORT: z.optional(z.string().check(z.regex(/^\d{1,5}$/))),
  DATABASE_NAME: z.optional(z.string().check(z.minLength(1))),
  /** What the names of a stage's secrets begin with, such as `municipal/prod/`. */
  SECRETS_PREFIX: z.optional(z.string().check(z.regex(/\/$/))),
  /** `verify-full` checks the server's certificate against the trusted CAs; `disable` is for loopback. */
  DATABASE_TLS: z._default(z.enum(["verify-full", "disable"]), "verify-full"),
  /** Secret with `{version, pepper}` for digests of what must not be stored in clear. */
  PEPPER_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Secret with the key that signs access tokens, a JWK of `kty: "oct"`. */
  TOKEN_KEY_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Where the legacy authentication system takes a username and a password. */
  LEGACY_AUTH_URL: z.optional(z.url()),
  /** Root of the employee system, before `/index.php`. */
  EMPLOYEE_SYSTEM_URL: z.optional(z.url()),
  /** Secret with the one or two credentials that open the messaging API. */
  BASIC_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Where callers find the two APIs, without a slash at the end. */
  INTEGRATION_ADDRESS: z.optional(z.url()),
  MESSAGING_ADDRESS: z.optional(z.url()),
  /** Where the messenger takes messages. */
  MESSENGER_URL: z.optional(z.url()),
  /** Secret with the `{token}` that opens it. */
  MESSENGER_TOKEN_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Where the messenger listens; 0 takes a free port. */
  MESSENGER_HOST: z._default(z.string(), "0.0.0.0"),
  MESSENGER_PORT: z._default(z.string().check(z.regex(/^\d{1,5}$/)), "8080"),
  /** How long it still takes messages after it was told to end: as long as its address may be remembered. */
  MESSENGER_LINGER_SECONDS: z._default(z.string().check(z.regex(/^\d{1,3}$/)), "0"),
  /** `careful` keeps the number from being blocked; `off` is for the fake platform. */
  MESSENGER_PACE: z._default(z.enum(["careful", "off"]), "careful"),
  /** Secret with the `{key}` that seals what the messenger keeps in the database. */
  MESSENGER_KEY_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Secret with the one or two credentials that open the console. */
  CONSOLE_SECRET_ID: z.optional(z.string().check(z.minLength(1))),
  /** Another messaging platform than the real one: its WebSocket, its signing key in base64, its media CA in PEM. */
  PLATFORM_URL: z.optional(z.url()),
  PLATFORM_ROOT_KEY: z.optional(z.string()),
  PLATFORM_MEDIA_CA: z.optional(z.string()),
  LOG_LEVEL: z._default(z.enum(["debug", "info", "warn", "error"]), "info"),
  /** Connection string for the operator's commands, in place of the one of a running `npm run dev`. */
  DATABASE_URL: z.optional(z.string().check(z.minLength(1))),
  /** Credentials of `npm run smoke` as JSON, in place of a file. */
  SMOKE_CREDENTIALS: z.optional(z.string().check(z.minLength(1))),
});
type Environment = z.infer<typeof Environment>;

let parsed: Environment | undefined;

const environment = (): Environment => {
  if (parsed) return parsed;
  const result = Environment.safeParse(process.env);
  if (!result.success) {
    const names = [...new Set(result.error.issues.map((issue) => issue.path.join(".")))];
    throw new Error(`environment variable ${names.join(", ")} has a value that cannot be used`);
  }
  parsed = result.data;
  return parsed;
};

/** The value of an environment variable, or undefined where it may be absent. */
export const findSetting = <K extends keyof Environment>(name: K): Environment[K] => environment()[name];

/**
 * The value of an environment variable that this code cannot work without.
 *
 * @throws Error that names the variable when it is missing.
 */
export const getSetting = <K extends keyof Environment>(name: K): NonNullable<Environment[K]> => {
  const value = environment()[name];
  if (value === undefined) throw new Error(`environment variable ${name} is not set`);
  return value;
};
