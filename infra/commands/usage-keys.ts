import {
  APIGatewayClient,
  type ApiKey,
  ConflictException,
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  NotFoundException,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
  paginateGetUsagePlans,
  UpdateApiKeyCommand,
} from "@aws-sdk/client-api-gateway";
import type { PartnerPlan } from "#lib/partner/directory.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { usagePlanName } from "../aws/usage-plan-name.ts";
import { CommandError } from "./command.ts";

/** The largest page that API Gateway gives. */
const pageSize = 500;

/** What API Gateway has of a stage. */
interface Held {
  /** Id of each usage plan, by the definition's name. */
  readonly plans: ReadonlyMap<string, string>;
  /** The keys of the stage's partners, whether or not the table knows them. */
  readonly keys: readonly ApiKey[];
  /** Ids of the plans in which a key is, by the key's id. */
  readonly plansOf: ReadonlyMap<string, readonly string[]>;
}

const prefix = (stage: string) => `municipal/${stage}/partner/`;

const readPlans = async (client: APIGatewayClient, stage: string): Promise<Held["plans"]> => {
  const named = new Map(
    Object.keys(integrationApi.usagePlans).map((plan) => [usagePlanName(stage, plan), plan]),
  );
  const plans = new Map<string, string>();
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize }, {}))
    for (const { id = "", name = "" } of items) {
      const plan = named.get(name);
      if (plan) plans.set(plan, id);
    }
  if (plans.size < named.size)
    throw new CommandError(
      `API Gateway has not all usage plans of the stage ${stage} in this account and region: deploy it first, ` +
        "or check AWS_REGION and the credentials",
    );
  return plans;
};

const readHeld = async (client: APIGatewayClient, stage: string): Promise<Held> => {
  const plans = await readPlans(client, stage);
  const keys: ApiKey[] = [];
  for await (const { items = [] } of paginateGetApiKeys({ client, pageSize }, { includeValues: true }))
    keys.push(...items.filter(({ name }) => name?.startsWith(prefix(stage))));
  const plansOf = new Map<string, string[]>();
  for (const usagePlanId of plans.values())
    for await (const { items = [] } of paginateGetUsagePlanKeys({ client, pageSize }, { usagePlanId }))
      for (const { id = "" } of items) plansOf.set(id, [...(plansOf.get(id) ?? []), usagePlanId]);
  return { plans, keys, plansOf };
};

/**
 * @throws CommandError before anything is changed, when what API Gateway has cannot have come from this table:
 * the keys of all partners of another stage would be lost.
 */
const requireSameTable = (stage: string, { keys }: Held, partners: readonly PartnerPlan[]) => {
  const identifiers = new Map(partners.map((partner) => [partner.partnerId, partner.usageIdentifier]));
  const strange = keys
    .map(({ name = "", value }) => ({ partnerId: name.slice(prefix(stage).length), value }))
    .filter(({ partnerId, value }) => identifiers.get(partnerId) !== value);
  if (strange.length > 0)
    throw new CommandError(
      `API Gateway counts ${strange.map(({ partnerId }) => partnerId).join(", ")} in the stage ${stage} by keys ` +
        `that this database does not know. Is it the database of ${stage}? If it is, «npm run partner -- sync ` +
        `--stage ${stage} --force» takes those keys away. Nothing was changed in API Gateway.`,
    );
};

const requirePlans = ({ plans }: Held, partners: readonly PartnerPlan[]) => {
  const planless = partners.filter(({ active, plan }) => active && !plans.has(plan));
  if (planless.length > 0)
    throw new CommandError(
      `The stage has no plan for ${planless.map(({ partnerId, plan }) => `${partnerId} (${plan})`).join(", ")}; choose ` +
        `one of ${[...plans.keys()].join(", ")} with «add PARTNER --plan»`,
    );
};

/** Someone else changed the same key meanwhile. */
const isRace = (error: unknown) => error instanceof ConflictException || error instanceof NotFoundException;

const explain = (error: unknown, stage: string): never => {
  if (error instanceof CommandError) throw error;
  const { name, message } = error as Error;
  throw new CommandError(
    `API Gateway did not do it (${name}: ${message}). What the database says holds; when the cause is mended, ` +
      `«npm run partner -- sync --stage ${stage}» does the rest.`,
  );
};

/**
 * The keys by which a deployed stage's API Gateway counts partners in its usage plans. They open nothing: they
 * are what the authorizer hands to API Gateway for a partner whose own key is active.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-api-key-source.html
 */
export const usageKeys = (stage: string) => {
  const client = new APIGatewayClient({});

  const settlePartner = async (held: Held, partner: PartnerPlan): Promise<string | undefined> => {
    const { partnerId, plan, usageIdentifier, active } = partner;
    const name = `${prefix(stage)}${partnerId}`;
    const key = held.keys.find((known) => known.name === name && known.value === usageIdentifier);
    if (!active) {
      if (!key) return undefined;
      await client.send(new DeleteApiKeyCommand({ apiKey: key.id }));
      return `${partnerId} is no longer counted: none of its keys is active`;
    }
    const wanted = held.plans.get(plan);
    const inPlans = held.plansOf.get(key?.id ?? "") ?? [];
    if (key?.enabled && inPlans.length === 1 && inPlans[0] === wanted) return undefined;

    const { id: keyId } =
      key ?? (await client.send(new CreateApiKeyCommand({ name, value: usageIdentifier, enabled: true })));
    if (key && !key.enabled)
      await client.send(
        new UpdateApiKeyCommand({
          apiKey: keyId,
          patchOperations: [{ op: "replace", path: "/enabled", value: "true" }],
        }),
      );
    // a key may be in one plan of a stage only, so that the old one goes first
    for (const usagePlanId of inPlans.filter((id) => id !== wanted))
      await client.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId }));
    if (wanted && !inPlans.includes(wanted))
      await client.send(new CreateUsagePlanKeyCommand({ usagePlanId: wanted, keyId, keyType: "API_KEY" }));
    return `${partnerId} is counted by the plan ${plan}`;
  };

  const removeUnknown = async (held: Held, partners: readonly PartnerPlan[]): Promise<string[]> => {
    const known = new Set(
      partners.map(({ partnerId, usageIdentifier }) => `${partnerId} ${usageIdentifier}`),
    );
    const unknown = held.keys.filter(
      ({ name = "", value }) => !known.has(`${name.slice(prefix(stage).length)} ${value}`),
    );
    for (const { id } of unknown) await client.send(new DeleteApiKeyCommand({ apiKey: id }));
    return unknown.map(({ name }) => `${name} is gone: the database does not know it`);
  };

  const settle = async (partners: readonly PartnerPlan[], force: boolean, onDone: (line: string) => void) => {
    const held = await readHeld(client, stage);
    requirePlans(held, partners);
    if (force) for (const line of await removeUnknown(held, partners)) onDone(line);
    else requireSameTable(stage, held, partners);
    for (const partner of partners) {
      const line = await settlePartner(held, partner);
      if (line) onDone(line);
    }
  };

  return {
    /** @throws CommandError when the stage cannot be reached or is not there: before anything is changed. */
    requireStage: async (): Promise<void> => {
      await readPlans(client, stage).catch((error: unknown) => explain(error, stage));
    },

    /**
     * Makes API Gateway have a key in the right plan for each partner with an active key, and none for the others.
     *
     * @param force takes away keys that the table does not know, instead of stopping.
     * @param onDone receives a line for each partner that had to be changed.
     * @throws CommandError that says what to do; the same call again goes on where this one stopped.
     */
    sync: (
      partners: readonly PartnerPlan[],
      { force, onDone }: { readonly force: boolean; readonly onDone: (line: string) => void },
    ): Promise<void> =>
      settle(partners, force, onDone)
        .catch((error: unknown) => {
          if (isRace(error)) return settle(partners, force, onDone);
          throw error;
        })
        .catch((error: unknown) => explain(error, stage)),
  };
};
