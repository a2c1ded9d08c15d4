import { findSetting } from "#lib/config.ts";
import { type IssuedKey, type KeySummary, partnerDirectory } from "#lib/partner/directory.ts";
import { type PartnerScope, partnerScopes } from "#lib/routes/route.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { CommandError, runCommand, verbCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { formatTable, formatTime } from "./listing.ts";
import { usageKeys } from "./usage-keys.ts";

const plans = Object.keys(integrationApi.usagePlans);
const defaultOverlapHours = 24;

const usage = `Usage:
  npm run partner -- add PARTNER [--scopes ${partnerScopes.join(",")}] [--plan ${plans.join("|")}] [--expires YYYY-MM-DD]
  npm run partner -- list
  npm run partner -- rotate PARTNER [--overlap HOURS]     issues a new key; old keys expire after ${defaultOverlapHours} hours
  npm run partner -- revoke KEY_ID|PARTNER                revokes keys; takes effect within 30 s
  npm run partner -- sync --stage NAME [--force]          updates the usage plans of API Gateway from the database

Without --scopes, a key has resident:read; it searches residents by name only. resident:number adds identity numbers.

PARTNER is a short name of lower-case letters, digits and dashes, such as health-office. A key is shown only once.
For the database of a deployed stage, add --stage NAME: API Gateway has a usage key for each partner, which add,
rotate, revoke and sync keep up to date.`;

const readPartner = (name: string | undefined): string => {
  if (name && /^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) return name;
  throw new CommandError(
    "PARTNER must be 1 to 40 lower-case letters, digits and dashes, such as health-office",
  );
};

const readScopes = (text: string): PartnerScope[] => {
  const scopes = text.split(",").map((name) => {
    const scope = partnerScopes.find((known) => known === name.trim());
    if (!scope) throw new CommandError(`Unknown scope: ${name}. Use ${partnerScopes.join(", ")}.`);
    return scope;
  });
  if (scopes.includes("resident:read")) return scopes;
  throw new CommandError(
    "A key without resident:read is rejected everywhere. Use --scopes resident:read,resident:number.",
  );
};

const readPlan = (name: string | undefined): string | undefined => {
  if (name === undefined || plans.includes(name)) return name;
  throw new CommandError(`Unknown plan: ${name}. Use ${plans.join(", ")}.`);
};

const readExpiry = (text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const date = new Date(`${text}T23:59:59Z`);
  const isDay = !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
  if (!isDay || date < new Date())
    throw new CommandError(`--expires must be a future date such as 2030-12-31, not ${text}`);
  return date;
};

const readOverlapMs = (text: string): number => {
  if (!/^\d{1,4}$/.test(text))
    throw new CommandError(`--overlap must be a whole number of hours from 0 to 9999, not ${text}`);
  return Number(text) * 3_600_000;
};

const formatKeys = (keys: readonly KeySummary[]): string =>
  formatTable(
    ["partner", "plan", "key", "scopes", "state", "created", "expires", "last used"],
    keys.map(({ partnerId, plan, keyId, scopes, state, createdAt, expiresAt, lastUsedAt }) => [
      partnerId,
      plan,
      keyId,
      scopes,
      state,
      ...[createdAt, expiresAt, lastUsedAt].map(formatTime),
    ]),
  );

const showKey = (partnerId: string, { keyId, key, expiresAt }: IssuedKey) =>
  console.log(
    `${partnerId} ${keyId}, ${expiresAt ? `expires ${formatTime(expiresAt)}` : "does not expire"}\n${key}\n\n` +
      "Send it over a secure channel. Only a digest is stored; the key cannot be shown again.",
  );

/**
 * The usage keys of a deployed stage, or undefined for the local system, whose gateway reads plans from the database.
 * @throws CommandError before anything is changed, if --stage is missing or the stage is not deployed.
 */
const findUsageKeys = async (stage: string | undefined) => {
  if (stage === undefined) {
    if (findSetting("DATABASE_SECRET_ID") && !findSetting("DATABASE_URL"))
      throw new CommandError(
        "--stage is required with DATABASE_SECRET_ID, to update the usage plans of that stage in API Gateway",
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
  keys.sync(await withDirectory((directory) => directory.listPlans()), { force, onChange: console.log });

/** Changes the database and shows the result before the sync can fail: a key cannot be shown again. */
const change = async <T>(
  stage: string | undefined,
  work: (directory: ReturnType<typeof partnerDirectory>) => Promise<T>,
  show: (result: T) => void,
) => {
  const keys = await findUsageKeys(stage);
  show(await withDirectory(work));
  if (keys) await sync(keys, false);
};

const options = {
  scopes: { type: "string", default: "resident:read" },
  plan: { type: "string" },
  expires: { type: "string" },
  overlap: { type: "string", default: String(defaultOverlapHours) },
  stage: { type: "string" },
  force: { type: "boolean", default: false },
} as const;

export const run = verbCommand(usage, options, {
  "add PARTNER": async (values, name) => {
    const partner = readPartner(name);
    const terms = { scopes: readScopes(values.scopes), expiresAt: readExpiry(values.expires) };
    const plan = readPlan(values.plan);
    await change(
      values.stage,
      (directory) => directory.add(partner, plan, terms),
      (issued) => showKey(partner, issued),
    );
  },
  list: async () => {
    console.log(formatKeys(await withDirectory((directory) => directory.list())));
  },
  "rotate PARTNER": async ({ overlap, stage }, name) => {
    const partner = readPartner(name);
    const overlapMs = readOverlapMs(overlap);
    await change(
      stage,
      (directory) => directory.rotate(partner, overlapMs),
      (issued) => {
        if (!issued)
          throw new CommandError(
            `${partner} has no active key. Issue one with: npm run partner -- add ${partner}`,
          );
        showKey(partner, issued);
      },
    );
  },
  "revoke KEY_ID|PARTNER": async ({ stage }, name) => {
    if (!name) throw new CommandError("revoke needs a key ID or a partner. See: npm run partner -- list");
    await change(
      stage,
      (directory) => directory.revoke(name),
      (revoked) => {
        if (revoked.length === 0)
          throw new CommandError(`No active key with ID or partner "${name}". See: npm run partner -- list`);
        console.log(`revoked ${revoked.join(", ")}`);
      },
    );
  },
  sync: async ({ stage, force }) => {
    const keys = await findUsageKeys(stage);
    if (!keys) throw new CommandError("sync needs --stage NAME, the name of a deployed stage");
    await sync(keys, force);
    console.log("The usage plans of API Gateway match the database.");
  },
});

if (import.meta.main) await runCommand(run);
