import { isDeepStrictEqual } from "node:util";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Node } from "constructs";
import ipaddr from "ipaddr.js";
import * as z from "zod/mini";
import { isZoneName } from "#lib/time-zone.ts";

const text = (pattern: RegExp) => z.string().check(z.regex(pattern));
const host = text(/^([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z]{2,}$/);
const address = z.url({ protocol: /^https?$/ });
const id = (prefix: string) => text(new RegExp(`^${prefix}-[\\da-f]{8,17}$`));
const certificate = text(/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/);
const capacity = z.number().check(z.multipleOf(0.5), z.gte(0.5), z.lte(256));
/** Name or ARN of a snapshot. It stays in the context: without it, CloudFormation would replace the server by an empty one. */
const backup = z.optional(text(/^[\w:.-]{1,255}$/));
const vault = text(/^arn:aws[\w-]*:backup:[a-z\d-]+:\d{12}:backup-vault:[\w-]{2,50}$/);
/** The command line passes a string: `-c monthlyBudgetUsd=100`. */
const amount = (least: number) =>
  z.pipe(
    z.pipe(
      z.union([z.number(), text(/^\d+$/)]),
      z.transform((value) => Number(value)),
    ),
    z.number().check(z.gte(least)),
  );

const flag = z.pipe(
  z.union([z.boolean(), text(/^(true|false)$/)]),
  z.transform((value) => String(value) === "true"),
);

/** The two hosts of a stage; one certificate in its region covers both. */
const Domain = z.strictObject({
  integrationHost: host,
  messagingHost: host,
  certificateArn: certificate,
  /** First segment of the integration API's address: `https://host/api`. */
  basePath: z._default(text(/^[a-z\d-]+$/), "api"),
});

/** The database of the functions and the messenger. */
const Database = z.discriminatedUnion("kind", [
  /** Aurora Serverless v2, in capacity units of about 2 GiB each. */
  z.strictObject({
    kind: z.literal("aurora"),
    minCapacity: z.optional(capacity),
    maxCapacity: z.optional(capacity),
    restoreFrom: backup,
  }),
  /** One RDS instance. */
  z.strictObject({
    kind: z.literal("instance"),
    instanceClass: z._default(text(/^[a-z\d]+\.[a-z\d]+$/), "t4g.micro"),
    storageGb: z._default(z.number().check(z.gte(20), z.lte(65_536)), 20),
    restoreFrom: backup,
  }),
  /** An existing server, PostgreSQL 15 to 18; `adminSecret` names a secret in RDS format. */
  z.strictObject({
    kind: z.literal("existing"),
    host,
    port: z._default(z.int().check(z.gte(1), z.lte(65_535)), 5432),
    dbname: text(/^[a-z_][a-z\d_]*$/),
    adminSecret: text(/^[\w/+=.@-]+$/),
    /** How many of the server's connections the stage may use; PostgreSQL's own default. */
    connections: z._default(z.int().check(z.gte(80), z.lte(5_000)), 100),
    /** Security group of the server; it is opened for the functions and the messenger. */
    securityGroupId: z.optional(id("sg")),
    /** Any name of the backup from which its operators have restored it. */
    restoreFrom: backup,
  }),
]);

/** A private range of 4,096 addresses, such as 10.40.0.0/20. */
const isOwnRange = (range: string): boolean => {
  if (!range.endsWith("/20") || !ipaddr.IPv4.isValidCIDR(range)) return false;
  const first = ipaddr.IPv4.networkAddressFromCIDR(range);
  return first.range() === "private" && range === `${first}/20`;
};
/** It must not be one that the city's VPN or a peering reaches. */
const defaultRange = "10.40.0.0/20";
const cidr = z._default(z.string().check(z.refine(isOwnRange)), defaultRange);

/** How functions in the network reach hosts outside it. */
const NetworkChoice = z.discriminatedUnion("egress", [
  /** By IPv6, at no cost: the legacy systems must have IPv6 addresses. */
  z.strictObject({ egress: z.literal("ipv6"), cidr }),
  /** By NAT gateways with fixed addresses, for legacy systems that have IPv4 addresses only. */
  z.strictObject({ egress: z.literal("nat"), cidr }),
  /** An existing network whose private subnets reach the legacy systems and the internet by IPv4. */
  z.strictObject({
    egress: z.literal("existing"),
    vpcId: id("vpc"),
    availabilityZones: z.array(text(/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/)).check(z.minLength(2)),
    privateSubnetIds: z.array(id("subnet")).check(z.minLength(2)),
  }),
]);

/** Where the operators of the messenger's console log in; their browsers return to the forwarded port. */
const ConsoleLogin = z.strictObject({
  /** Issuer of OpenID Connect, such as a Cognito user pool. */
  issuer: z.url({ protocol: /^https$/ }),
  clientId: text(/^[\x21-\x7e]{1,200}$/),
  /** The claim with the operator's groups. */
  groupsClaim: z._default(text(/^[\w:./-]+$/), "cognito:groups"),
});

const Context = z.object({
  /** RDS and others refuse names that end in a hyphen or have two in a row. */
  stage: text(/^(?=.{2,16}$)[a-z][a-z\d]*(-[a-z\d]+)*$/),
  /** Whether the stage holds a city's data: then these survive the deletion of its stacks. */
  production: z.optional(flag),
  /** Whether CloudFormation refuses to delete what a stage cannot create again; only once that exists. */
  protected: z._default(flag, false),
  /** Recipient of the alarms. */
  alarmEmail: z.email(),
  /** A second one: address of an on-call service that confirms subscriptions of SNS, such as PagerDuty or Opsgenie. */
  alarmUrl: z.optional(z.url({ protocol: /^https$/ })),
  monthlyBudgetUsd: amount(1),
  domain: z.optional(Domain),
  database: Database,
  /** A vault of AWS Backup outside of the stage, to which the database is copied; secrets are replicated to its region. */
  backupVaultArn: z.optional(vault),
  /**
   * Share of the account's concurrency by which the functions with a database connection are limited; together they reserve
   * up to 1.75 times as much. 0 reserves none, for an account whose quota is not yet above 100.
   */
  functionConcurrency: z.optional(amount(0)),
  /** The account's quota of concurrent Lambda executions. */
  accountConcurrency: z._default(amount(10), 1_000),
  /** Messengers that run at the same time: one leads, the others accept messages and take over. */
  messengerTasks: z.optional(z.pipe(amount(1), z.number().check(z.lte(3)))),
  upstream: z.strictObject({ legacyAuthUrl: address, employeeSystemUrl: address }),
  network: z._default(NetworkChoice, { egress: "ipv6", cidr: defaultRange }),
  /** When absent, the console checks the passwords of the secret `messenger-console`. */
  consoleLogin: z.optional(ConsoleLogin),
  /** The IAM role of the citizens' portal, which may then get reports about citizens. When absent, there is no such function. */
  citizenPortalRole: z.optional(text(/^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/)),
  /** Country code of the city, for which a leading 0 of a phone number stands. When absent, it is 62. */
  countryCode: z.optional(text(/^[1-9]\d{0,2}$/)),
  /** Time zone of the city, by its IANA name. When absent, it is Asia/Jakarta. */
  timeZone: z.optional(z.string().check(z.refine(isZoneName))),
  /** The version of WhatsApp Web that the messenger announces, if it is newer than the library's. */
  webVersion: z.optional(text(/^\d+\.\d+\.\d{1,10}$/)),
  /** An image of the messenger in a registry, by tag or digest. When absent, the deployment builds it. */
  messagingImage: z.optional(text(/^[a-z\d.-]+(:\d+)?(\/[a-z\d._-]+)+(:[\w.-]+|@sha256:[\da-f]{64})$/)),
});
type Context = z.infer<typeof Context>;

export type DatabaseChoice = Context["database"];

/** The settings in which production differs from every other stage. */
const byPurpose = (isProduction: boolean) => ({
  isProduction,
  /** Whether data and keys are retained when a stack is deleted. */
  keepsData: isProduction,
  backupDays: isProduction ? 30 : 7,
  logRetention: isProduction ? RetentionDays.THREE_MONTHS : RetentionDays.ONE_MONTH,
  /** Number of availability zones for what does not survive the loss of its zone: NAT gateways, database servers. */
  zones: isProduction ? 2 : 1,
  /**
   * Two stages fit in the 900 that an account with the default quota of 1,000 may reserve.
   * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
   */
  functionConcurrency: isProduction ? 300 : 100,
  messengerTasks: isProduction ? 2 : 1,
  /** Aurora capacity, in units of about 2 GiB. */
  capacity: { min: 0.5, max: isProduction ? 8 : 2 },
});

/** Whether a stage looks like one with real data, so that nobody may forget to say what becomes of them. */
const mayBeProduction = ({ stage, domain }: Pick<Context, "stage" | "domain">): boolean =>
  domain !== undefined || /^(prod|live|utama)/.test(stage);

/** The configuration of one stage. */
export type Config = Omit<Context, "functionConcurrency" | "messengerTasks" | "production"> &
  ReturnType<typeof byPurpose>;

/** Valid values of each key, shown in the error for an invalid one. */
export const examples: Readonly<Record<keyof Context, readonly unknown[]>> = {
  stage: ["prod"],
  production: [true, false],
  protected: [true],
  alarmEmail: ["operations@city.example"],
  alarmUrl: ["https://oncall.city.example/sns"],
  monthlyBudgetUsd: [150],
  domain: [
    {
      integrationHost: "services.city.example",
      messagingHost: "messages.city.example",
      certificateArn:
        "arn:aws:acm:ap-southeast-3:111122223333:certificate/0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9",
      basePath: "api",
    },
  ],
  database: [
    { kind: "aurora", minCapacity: 0.5, maxCapacity: 4 },
    { kind: "instance", instanceClass: "t4g.small", storageGb: 50 },
    { kind: "existing", host: "database.city.example", dbname: "municipal", adminSecret: "municipal/admin" },
  ],
  backupVaultArn: ["arn:aws:backup:ap-southeast-1:111122223333:backup-vault:municipal"],
  functionConcurrency: [300, 0],
  accountConcurrency: [1_000],
  messengerTasks: [2, 1],
  upstream: [
    {
      legacyAuthUrl: "https://legacy.city.example/auth/login.php",
      employeeSystemUrl: "https://simpeg.city.example",
    },
  ],
  network: [
    { egress: "ipv6", cidr: defaultRange },
    { egress: "nat", cidr: "172.20.16.0/20" },
    {
      egress: "existing",
      vpcId: "vpc-0123456789abcdef0",
      availabilityZones: ["ap-southeast-3a", "ap-southeast-3b"],
      privateSubnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    },
  ],
  consoleLogin: [
    {
      issuer: "https://cognito-idp.ap-southeast-3.amazonaws.com/ap-southeast-3_a1B2c3D4e",
      clientId: "4h7k2m9p1q3r5s8t0v6w",
      groupsClaim: "cognito:groups",
    },
  ],
  citizenPortalRole: ["arn:aws:iam::111122223333:role/citizens-portal"],
  countryCode: ["62"],
  timeZone: ["Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura"],
  webVersion: ["2.3000.1043857760"],
  messagingImage: ["111122223333.dkr.ecr.ap-southeast-3.amazonaws.com/municipal-messenger:1.0.0"],
};

/** The command line passes an object or a list as JSON: `-c database='{"kind": "aurora"}'`. */
const readJson = (value: unknown): unknown => {
  if (typeof value !== "string" || !/^[{[]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const explain = (key: string, found: unknown, rightOnes: readonly unknown[]): string => {
  const shown = found === undefined ? "is not set" : `cannot be ${JSON.stringify(found)}`;
  return `context key "${key}" ${shown}. Valid values are, for example:\n${rightOnes
    .map((right) => `  ${JSON.stringify(right)}`)
    .join("\n")}`;
};

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((found, key) => (found as Record<PropertyKey, unknown> | undefined)?.[key], value);

const ownKeys = Object.keys(examples).filter((key) => key !== "stage");

/** What differs between stages: keys of the context, by the name of the stage that they are for. */
const Stages = z._default(z.record(Context.shape.stage, z.partialRecord(z.enum(ownKeys), z.unknown())), {});

const validKeys = `Valid keys are ${ownKeys.join(", ")}`;

/** @throws Error for keys that a stage cannot have. */
const readStages = (value: unknown): z.infer<typeof Stages> => {
  const given = readJson(value);
  const result = Stages.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map(
          (key) => `context key "stages.${issue.path.join(".")}.${key}" does not exist. ${validKeys}`,
        )
      : explain("stages", given, [{ prod: { production: true, protected: true } }]),
  );
  throw new Error([...new Set(problems)].join("\n"));
};

/**
 * Reads a stage's configuration from the context: what `-c key=value` sets, then what `stages` has for the stage, then the
 * other keys of `cdk.json`.
 *
 * @param written the context of `cdk.json`. The CDK mixes both sources, so that a value is taken for one of the command line
 *   when it differs from the one in the file.
 * @throws Error that names each missing or invalid key, with examples of valid values.
 */
export const readConfig = (node: Node, written: Readonly<Record<string, unknown>>): Config => {
  const keys = Object.keys(examples) as (keyof Context)[];
  const { [node.tryGetContext("stage")]: own = {} } = readStages(node.tryGetContext("stages"));
  const find = (key: string): unknown => {
    const mixed = node.tryGetContext(key);
    return key in own && isDeepStrictEqual(mixed, written[key]) ? own[key] : mixed;
  };
  const found = Object.fromEntries(
    keys.flatMap((key) => {
      const value = readJson(find(key));
      return value === undefined ? [] : [[key, value]];
    }),
  );
  const result = Context.safeParse(found);
  if (result.success) {
    const { production, ...choices } = result.data;
    if (production === undefined && mayBeProduction(choices))
      throw new Error(
        `context key "production" is not set, and the stage ${choices.stage} may hold a city's data: with true, these survive the deletion of ` +
          `its stacks; with false, they do not. Set it in cdk.json: "stages": {"${choices.stage}": {"production": true}}`,
      );
    const purpose = byPurpose(production ?? false);
    const { functionConcurrency = purpose.functionConcurrency, messengerTasks = purpose.messengerTasks } =
      choices;
    return { ...choices, ...purpose, functionConcurrency, messengerTasks };
  }
  const problems = result.error.issues.map(({ path }) =>
    explain(path.join("."), valueAt(found, path), examples[path[0] as keyof Context]),
  );
  throw new Error([...new Set(problems)].join("\n"));
};
