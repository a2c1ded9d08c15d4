import { parseArgs } from "node:util";
import { type IssuedKey, type KeySummary, partnerDirectory } from "#lib/partner/directory.ts";
import { routes } from "#lib/routes/index.ts";
import type { PartnerScope } from "#lib/routes/route.ts";
import { integrationApi } from "../integration-api.ts";
import { CommandError, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { formatTable, formatTime } from "./listing.ts";

const scopes = [...new Set(routes.flatMap(({ auth }) => (auth.kind === "apiKey" ? [auth.scope] : [])))];
const plans = Object.keys(integrationApi.usagePlans);
const defaultOverlapHours = 24;

const usage = `Usage:
  npm run partner -- add PARTNER [--scopes ${scopes.join(",")}] [--plan ${plans.join("|")}] [--expires YYYY-MM-DD]
  npm run partner -- list
  npm run partner -- rotate PARTNER [--overlap HOURS]     a new key; the old ones end after ${defaultOverlapHours} hours
  npm run partner -- revoke KEY_ID|PARTNER                at once; a warm gateway may take 30 s to notice

PARTNER is a short name of letters, digits and dashes, such as health-office. A key is shown once.`;

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

await runCommand(usage, async (args) => {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      scopes: { type: "string", default: scopes.join(",") },
      plan: { type: "string" },
      expires: { type: "string" },
      overlap: { type: "string", default: String(defaultOverlapHours) },
    },
  });
  const [verb, name, ...more] = positionals;
  if (more.length > 0) throw new CommandError(`${more.join(" ")} is one word too many`);
  switch (verb) {
    case "add": {
      const partner = readPartner(name);
      const terms = { scopes: readScopes(values.scopes), expiresAt: readExpiry(values.expires) };
      const plan = readPlan(values.plan);
      showKey(
        partner,
        await withConnection("partner-admin", (sql) => partnerDirectory(sql).add(partner, plan, terms)),
      );
      return 0;
    }
    case "list":
      console.log(formatKeys(await withConnection("partner-admin", (sql) => partnerDirectory(sql).list())));
      return 0;
    case "revoke": {
      if (!name) throw new CommandError("Give a key id or a partner; «npm run partner -- list» shows them");
      const revoked = await withConnection("partner-admin", (sql) => partnerDirectory(sql).revoke(name));
      if (revoked.length === 0)
        throw new CommandError(`${name} is neither an active key nor a partner that has one`);
      console.log(`revoked ${revoked.join(", ")}`);
      return 0;
    }
    case "rotate": {
      const partner = readPartner(name);
      const overlap = readOverlapMs(values.overlap);
      const issued = await withConnection("partner-admin", (sql) =>
        partnerDirectory(sql).rotate(partner, overlap),
      );
      if (!issued) throw new CommandError(`${partner} has no active key; give it one with «add»`);
      showKey(partner, issued);
      return 0;
    }
    default:
      throw new CommandError(`There is no «${verb}»; choose add, list, rotate or revoke`);
  }
});
