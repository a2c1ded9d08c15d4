import { parseArgs } from "node:util";
import { findSetting } from "#lib/config.ts";
import { type IssuedKey, type KeySummary, partnerDirectory } from "#lib/partner/directory.ts";
import { routes } from "#lib/routes/index.ts";
import type { PartnerScope } from "#lib/routes/route.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { formatTable, formatTime } from "./listing.ts";
import { usageKeys } from "./usage-keys.ts";

const scopes = [...new Set(routes.flatMap(({ auth }) => (auth.kind === "apiKey" ? [auth.scope] : [])))];
const plans = Object.keys(integrationApi.usagePlans);
const defaultOverlapHours = 24;

const usage = `Usage:
  npm run partner -- add PARTNER [--scopes ${scopes.join(",")}] [--plan ${plans.join("|")}] [--expires YYYY-MM-DD]
  npm run partner -- list
  npm run partner -- rotate PARTNER [--overlap HOURS]     a new key; the old ones end after ${defaultOverlapHours} hours
  npm run partner -- revoke KEY_ID|PARTNER                at once; a warm gateway may take 30 s to notice
  npm run partner -- sync --stage NAME [--force]          mends what API Gateway counts partners by

PARTNER is a short name of letters, digits and dashes, such as health-office. A key is shown once.
With the database of a deployed stage, say its name: --stage NAME. API Gateway counts each partner in its
plan by a key of its own, which add, rotate, revoke and sync keep right.`;

const readPartner = (name: string | undefined): string => {
  if (name && /^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) return name;
  throw new CommandError("Give a partner of 1 to 40 small letters, digits and dashes, such as health-office");
};

const readScopes = (text: string): PartnerScope[] =>
  text.split(",").map((name) => {
    const scope = scopes.find((known) => known === name.trim());
    if (!scope) throw new CommandError(`There is no scope ${name}; choose from ${scopes.join(", ")}`);
    return scope;
  });

const readPlan = (name: string | undefined): string | undefined => {
  if (name === undefined || plans.includes(name)) return name;
  throw new CommandError(`There is no plan ${name}; choose from ${plans.join(", ")}`);
};

const readExpiry = (text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const date = new Date(`${text}T23:59:59Z`);
  const isDay = !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
  if (!isDay || date < new Date())
    throw new CommandError(`--expires must be a day to come, such as 2030-12-31, not ${text}`);
  return date;
};

const readOverlapMs = (text: string): number => {
  if (!/^\d{1,4}$/.test(text))
    throw new CommandError(`--overlap must be whole hours from 0 to 9999, not ${text}`);
  return Number(text) * 3_600_000;
};

const formatKeys = (keys: readonly KeySummary[]): string =>
  formatTable(
    ["partner", "plan", "key", "scopes", "state", "created", "expires", "last used"],
    keys.map(({ partnerId, plan, keyId, scopes, state, createdAt, expiresAt, lastUsedAt }) => [
      ...[partnerId, plan, keyId, scopes, state],
      ...[createdAt, expiresAt, lastUsedAt].map(formatTime),
    ]),
  );

const showKey = (partnerId: string, { keyId, key, expiresAt }: IssuedKey) =>
  console.log(
    `${partnerId} ${keyId}, ${expiresAt ? `until ${formatTime(expiresAt)}` : "without end"}\n${key}\n\n` +
      "Hand it over safely: it is stored only as a digest and cannot be shown again.",
  );

/**
 * The deployed stage's usage keys, or undefined on this machine, whose gateway reads the plans from the table.
 * @throws CommandError before anything is changed, when the stage is not named or not there.
 */
const findUsageKeys = async (stage: string | undefined) => {
  if (stage === undefined) {
    if (findSetting("DATABASE_SECRET_ID") && !findSetting("DATABASE_URL"))
      throw new CommandError(
        "This is the database of a deployed stage, whose API Gateway has to know its partners; name it by --stage",
      );
    return undefined;
  }
  const keys = usageKeys(stage);
  await keys.requireStage();
  return keys;
};

const withDirectory = <T>(work: (directory: ReturnType<typeof partnerDirectory>) => Promise<T>): Promise<T> =>
  withConnection("partner-admin", (sql) => work(partnerDirectory(sql)));

const sync = async (keys: ReturnType<typeof usageKeys>, force: boolean) =>
  keys.sync(await withDirectory((directory) => directory.listPlans()), { force, onDone: console.log });

/** Changes the table, and shows the result before anything else can fail: a key is never shown again. */
const change = async <T>(
  stage: string | undefined,
  work: (directory: ReturnType<typeof partnerDirectory>) => Promise<T>,
  show: (result: T) => void,
) => {
  const keys = await findUsageKeys(stage);
  show(await withDirectory(work));
  if (keys) await sync(keys, false);
};

export const run = command(usage, async (args) => {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      scopes: { type: "string", default: scopes.join(",") },
      plan: { type: "string" },
      expires: { type: "string" },
      overlap: { type: "string", default: String(defaultOverlapHours) },
      stage: { type: "string" },
      force: { type: "boolean", default: false },
    },
  });
  const [verb, name, ...more] = positionals;
  if (more.length > 0) throw new CommandError(`${more.join(" ")} is one word too many`);
  switch (verb) {
    case "add": {
      const partner = readPartner(name);
      const terms = { scopes: readScopes(values.scopes), expiresAt: readExpiry(values.expires) };
      const plan = readPlan(values.plan);
      await change(
        values.stage,
        (directory) => directory.add(partner, plan, terms),
        (issued) => showKey(partner, issued),
      );
      return 0;
    }
    case "list":
      console.log(formatKeys(await withDirectory((directory) => directory.list())));
      return 0;
    case "revoke": {
      if (!name) throw new CommandError("Give a key id or a partner; «npm run partner -- list» shows them");
      await change(
        values.stage,
        (directory) => directory.revoke(name),
        (revoked) => {
          if (revoked.length === 0)
            throw new CommandError(`${name} is neither an active key nor a partner that has one`);
          console.log(`revoked ${revoked.join(", ")}`);
        },
      );
      return 0;
    }
    case "rotate": {
      const partner = readPartner(name);
      const overlap = readOverlapMs(values.overlap);
      await change(
        values.stage,
        (directory) => directory.rotate(partner, overlap),
        (issued) => {
          if (!issued) throw new CommandError(`${partner} has no active key; give it one with «add»`);
          showKey(partner, issued);
        },
      );
      return 0;
    }
    case "sync": {
      const keys = await findUsageKeys(values.stage);
      if (!keys)
        throw new CommandError("Name the deployed stage by --stage; there is nothing to mend elsewhere");
      await sync(keys, values.force);
      console.log("API Gateway counts every partner as the database says");
      return 0;
    }
    default:
      throw new CommandError(`There is no «${verb}»; choose add, list, rotate, revoke or sync`);
  }
});

if (import.meta.main) await runCommand(run);
