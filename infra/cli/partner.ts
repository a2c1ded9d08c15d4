import {
  type IssuedKey,
  type KeySummary,
  type KeyTerms,
  type PartnerLimits,
  partnerDirectory,
} from "#lib/partner/partner-keys.ts";
import { ResidentRecord } from "#lib/routes/resident.ts";
import { type PartnerScope, partnerScopes } from "#lib/routes/route.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { CommandError, type Reply, readWhole, WrongCall } from "./command.ts";
import { expires, formatState, overlap, readName, showSecret, stateColumns } from "./credential.ts";
import { formatTable } from "./output.ts";
import { cityCommand, findStage, noun, requireStage, withDirectoryOf } from "./stage.ts";
import { usageKeys } from "./usage-keys.ts";

const plans = Object.keys(integrationApi.usagePlans);

const readPartner = readName("PARTNER", "health-office");

const readScopes = (text: string): PartnerScope[] => {
  const scopes = text.split(",").map((name) => {
    const scope = partnerScopes.find((known) => known === name.trim());
    if (!scope) throw new WrongCall(`Unknown scope: ${name}. Use ${partnerScopes.join(", ")}.`);
    return scope;
  });
  const reads = scopes.includes("resident:read");
  if (reads || (scopes.includes("resident:verify") && !scopes.includes("resident:number"))) return scopes;
  throw new WrongCall(
    "resident:number has no effect without resident:read. Use --scopes resident:read,resident:number.",
  );
};

const none = "none" as const;
const allFields = "all";
const fieldNames = Object.keys(ResidentRecord.shape);

const readPurposes = (text: string): string[] => {
  if (text === none) return [];
  const codes = text.split(",").map((code) => code.trim());
  if (codes.some((code) => code.toLowerCase() === none))
    throw new WrongCall(`${none} is no purpose. To require none, use --purposes ${none} alone.`);
  const wrong = codes.find((code) => !/^[A-Za-z0-9][\w.-]{0,39}$/.test(code) || /\d{15}/.test(code));
  if (wrong === undefined) return [...new Set(codes)];
  throw new WrongCall(
    `A purpose must be 1 to 40 letters, digits, dots, dashes and underscores, such as health-insurance, not ${wrong || "empty"}`,
  );
};

const readFields = (text: string): string[] => {
  if (text === allFields) return [];
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !fieldNames.includes(name));
  if (wrong === undefined) return [...new Set(names)];
  throw new WrongCall(
    `Unknown field: ${wrong || "empty"}. Use ${allFields}, or some of ${fieldNames.join(", ")}.`,
  );
};

const most = 1_000_000_000;

/** An option that is a whole number, or `none`: commander turns null into an empty text. */
const limit = <N extends string>(name: N, what: string) =>
  [
    `--${name} <number>`,
    `${what}; ${none}: no limit`,
    (text: string) => (text === none ? none : readWhole(`--${name}`, 1, most)(text)),
  ] as const;

interface GivenLimits {
  readonly residentsPerDay?: number | typeof none | undefined;
  readonly lookUpsPerMinute?: number | typeof none | undefined;
}

const readLimits = ({ residentsPerDay, lookUpsPerMinute }: GivenLimits): PartnerLimits => ({
  residentsPerDay: residentsPerDay === none ? null : residentsPerDay,
  lookUpsPerMinute: lookUpsPerMinute === none ? null : lookUpsPerMinute,
});

const readPlan = (name: string): string => {
  if (plans.includes(name)) return name;
  throw new WrongCall(`Unknown plan: ${name}. Use ${plans.join(", ")}.`);
};

const formatKeys = (keys: readonly KeySummary[]): string =>
  formatTable(
    [
      ...["partner", "plan", "key", "scopes", ...stateColumns, "purposes", "fields"],
      ...["read in 24 h", "residents/day", "look-ups/min"],
    ],
    keys.map((key) => [
      ...[key.partnerId, key.plan, key.keyId, key.scopes],
      ...[...formatState(key), key.purposes ?? none, key.fields ?? allFields],
      String(key.residentsRead),
      ...[key.residentsPerDay, key.lookUpsPerMinute].map((number) => number?.toString() ?? none),
    ]),
  );

const showKey = (partner: string, { keyId, key, expiresAt }: IssuedKey): Reply => ({
  text: showSecret({ title: `${partner} ${keyId}`, expiresAt, secret: key, noun: "key" }),
  json: { partner, keyId, key, expiresAt: expiresAt ?? null },
});

/**
 * The usage keys of a deployed stage, or undefined for the local system, whose gateway reads plans from the database.
 * @throws CommandError before anything is changed, if the stage is not deployed.
 */
const findUsageKeys = async () => {
  const stage = findStage();
  if (stage === undefined) return undefined;
  const keys = usageKeys(stage);
  await keys.requireStage();
  return keys;
};

type Directory = ReturnType<typeof partnerDirectory>;

const withDirectory = withDirectoryOf("partner-admin", partnerDirectory);

/** @returns a line for each change. */
const sync = async (keys: ReturnType<typeof usageKeys>, force: boolean): Promise<string[]> => {
  const lines: string[] = [];
  const partners = await withDirectory((directory) => directory.listPlans());
  await keys.sync(partners, { force, onChange: (line) => lines.push(line) });
  return lines;
};

/** Changes the database. The result is printed before the sync can fail: a key cannot be shown again. */
const change = async (work: (directory: Directory) => Promise<Reply>): Promise<Reply> => {
  const keys = await findUsageKeys();
  const reply = await withDirectory(work);
  return keys ? { ...reply, afterwards: () => sync(keys, false) } : reply;
};

const add =
  (partner: string, plan: string | undefined, terms: KeyTerms, limits: PartnerLimits) =>
  async (directory: Directory) => {
    const keys = await directory.list();
    if (keys.some(({ partnerId, state }) => partnerId === partner && state === "active"))
      throw new CommandError(
        `${partner} has an active key. To replace it, or to change its plan, scopes or expiry: ${cityCommand("partner", "rotate", partner)}`,
      );
    return showKey(partner, await directory.add(partner, plan, terms, limits));
  };

const rotate =
  (partner: string, overlapHours: number, terms: Parameters<Directory["rotate"]>[2]) =>
  async (directory: Directory) => {
    const issued = await directory.rotate(partner, overlapHours * 3_600_000, terms);
    if (issued) return showKey(partner, issued);
    throw new CommandError(
      `${partner} has no active key. Issue one with: ${cityCommand("partner", "add", partner)}`,
    );
  };

const revoke = (name: string) => async (directory: Directory) => {
  const revoked = await directory.revoke(name);
  if (revoked.length > 0) return { text: `revoked ${revoked.join(", ")}`, json: { revoked } };
  throw new CommandError(
    `No active key with ID or partner "${name}". See: ${cityCommand("partner", "list")}`,
  );
};

const setLimits = async (partner: string, limits: PartnerLimits): Promise<Reply> => {
  if (limits.residentsPerDay === undefined && limits.lookUpsPerMinute === undefined)
    throw new WrongCall("Give at least one of --residents-per-day and --look-ups-per-minute.");
  if (!(await withDirectory((directory) => directory.limit(partner, limits))))
    throw new CommandError(`No partner "${partner}". See: ${cityCommand("partner", "list")}`);
  return { text: `${partner} has new limits, which apply to its next read.`, json: { partner } };
};

const list = async (): Promise<Reply> => {
  const keys = await withDirectory((directory) => directory.list());
  return { text: formatKeys(keys), json: { keys: [...keys] } };
};

const syncStage = async (force: boolean): Promise<Reply> => {
  requireStage();
  const keys = await findUsageKeys();
  const changes = keys ? await sync(keys, force) : [];
  const text = [...changes, "The usage plans of API Gateway match the database."].join("\n");
  return { text, json: { changes } };
};

const defaultScopes: PartnerScope[] = ["resident:read"];
const about = `Manage the API keys and plans of partner agencies.

PARTNER is a short name of lower-case letters, digits and dashes, such as health-office. A key is shown only once.
API Gateway has a usage key for each partner of a stage, which add, rotate, revoke and sync keep up to date.`;

export const run = noun("partner", about, (program, answer) => {
  const scopes = [
    "--scope, --scopes <scopes>",
    `of ${partnerScopes.join(",")}; resident:number adds searches by identity number, resident:verify reveals no data`,
    readScopes,
  ] as const;
  const purposes = [
    "--purposes <codes>",
    `codes separated by commas, of which each read must send one in X-Purpose; ${none}: not required`,
    readPurposes,
  ] as const;
  const fields = [
    "--fields <names>",
    `fields that list and search may show, separated by commas; the others are null; ${allFields}: every field`,
    readFields,
  ] as const;
  const residents = limit(
    "residents-per-day",
    "most residents that are shown or looked up within 24 hours, with all keys together",
  );
  const lookUps = limit(
    "look-ups-per-minute",
    "look-ups on average over ten minutes, above which the operator gets an alarm",
  );
  const plan = ["--plan <plan>", plans.join(", "), readPlan] as const;
  program
    .command("add")
    .description("add a partner and issue its key")
    .argument("<partner>", "name", readPartner)
    .option(...scopes, defaultScopes)
    .option(...purposes)
    .option(...fields)
    .option(...residents)
    .option(...lookUps)
    .option(...plan)
    .option(...expires)
    .action(
      answer((partner, given) =>
        change(add(partner, given.plan, { ...given, expiresAt: given.expires }, readLimits(given))),
      ),
    );
  program
    .command("limit")
    .description("change how much a partner may read, from its next read on")
    .argument("<partner>", "name", readPartner)
    .option(...residents)
    .option(...lookUps)
    .action(answer((partner, given) => setLimits(partner, readLimits(given))));
  program.command("list").description("list all keys").action(answer(list));
  program
    .command("rotate")
    .description("issue a new key, with the terms of the newest one unless others are given; old keys expire")
    .argument("<partner>", "name", readPartner)
    .option(...overlap("keys"))
    .option(...scopes)
    .option(...purposes)
    .option(...fields)
    .option(...plan)
    .option(...expires)
    .action(
      answer((partner, { expires: expiresAt, overlap, ...terms }) =>
        change(rotate(partner, overlap, { ...terms, expiresAt })),
      ),
    );
  program
    .command("revoke")
    .description("revoke keys; takes effect within 30 s")
    .argument("<key|partner>", "a key ID, or a partner for all its keys")
    .action(answer((name) => change(revoke(name))));
  program
    .command("sync")
    .description("update the usage plans of API Gateway from the database")
    .option("--force", "delete usage keys that are not in the database")
    .action(answer((given) => syncStage(given.force ?? false)));
});
