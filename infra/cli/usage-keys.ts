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
import type { PartnerPlan } from "#lib/partner/partner-keys.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { usagePlanName } from "../aws/stage-names.ts";
import { CommandError, explainAwsError } from "./command.ts";
import { cityCommand } from "./stage.ts";

/** The largest page size of API Gateway. */
const pageSize = 500;

/** The usage plans and keys of a stage in API Gateway. */
interface GatewayState {
  /** IDs of the usage plans, by their name in the API definition. */
  readonly plans: ReadonlyMap<string, string>;
  /** The keys of the stage's partners, including those that are not in the database. */
  readonly keys: readonly ApiKey[];
  /** IDs of the plans that contain a key, by key ID. */
  readonly plansOf: ReadonlyMap<string, readonly string[]>;
}

const prefix = (stage: string) => `municipal/${stage}/partner/`;

const readPlans = async (client: APIGatewayClient, stage: string): Promise<GatewayState["plans"]> => {
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
      `API Gateway lacks usage plans of the stage ${stage} in this account and region. Deploy the stage first, ` +
        "or check AWS_REGION and the credentials.",
    );
  return plans;
};

const readState = async (client: APIGatewayClient, stage: string): Promise<GatewayState> => {
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

/** The keys in API Gateway that are not in this database. */
const listUnknown = (stage: string, { keys }: GatewayState, partners: readonly PartnerPlan[]): ApiKey[] => {
  const known = new Map(
    partners.map((partner) => [`${prefix(stage)}${partner.partnerId}`, partner.usageIdentifier]),
  );
  return keys.filter(({ name = "", value }) => known.get(name) !== value);
};

/** @throws CommandError if there are unknown keys: a sync with another stage's database would delete all its keys. */
const requireNoUnknown = (stage: string, unknown: readonly ApiKey[]) => {
  if (unknown.length > 0)
    throw new CommandError(
      `The stage ${stage} has usage keys that are not in this database: ` +
        `${unknown.map(({ name }) => name).join(", ")}. Check that this is the database of ${stage}. ` +
        `If it is, delete those keys with: ${cityCommand("partner", "sync", "--force")}. ` +
        "API Gateway was not changed.",
    );
};

const requirePlans = ({ plans }: GatewayState, partners: readonly PartnerPlan[]) => {
  const planless = partners.filter(({ active, plan }) => active && !plans.has(plan));
  if (planless.length > 0)
    throw new CommandError(
      `The stage lacks the plan of ${planless.map(({ partnerId, plan }) => `${partnerId} (${plan})`).join(", ")}. ` +
        `Choose one of ${[...plans.keys()].join(", ")} with: ${cityCommand("partner", "rotate", "PARTNER", "--plan", "PLAN")}`,
    );
};

/** Whether another operator changed the same key at the same time. */
const isConflict = (error: unknown) =>
  error instanceof ConflictException || error instanceof NotFoundException;

const fail = (error: unknown, consequence: string): never => {
  if (error instanceof CommandError) throw error;
  throw new CommandError(`API Gateway was not updated: ${explainAwsError(error)}. ${consequence}`);
};

/**
 * Manages the API Gateway keys that assign partners to the usage plans of a deployed stage. They grant no access:
 * the authorizer passes them to API Gateway for a partner with an active API key.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-api-key-source.html
 */
export const usageKeys = (stage: string) => {
  const client = new APIGatewayClient({});

  const syncPartner = async (state: GatewayState, partner: PartnerPlan): Promise<string | undefined> => {
    const { partnerId, plan, usageIdentifier, active } = partner;
    const name = `${prefix(stage)}${partnerId}`;
    const key = state.keys.find((known) => known.name === name && known.value === usageIdentifier);
    if (!active) {
      if (!key) return undefined;
      await client.send(new DeleteApiKeyCommand({ apiKey: key.id }));
      return `${partnerId}: removed from its usage plan, because it has no active key`;
    }
    const wanted = state.plans.get(plan);
    const inPlans = state.plansOf.get(key?.id ?? "") ?? [];
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
    // a key can be in only one plan of a stage, so remove it from the old plan first
    for (const usagePlanId of inPlans.filter((id) => id !== wanted))
      await client.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId }));
    if (wanted && !inPlans.includes(wanted))
      await client.send(new CreateUsagePlanKeyCommand({ usagePlanId: wanted, keyId, keyType: "API_KEY" }));
    return `${partnerId}: added to the usage plan ${plan}`;
  };

  const syncAll = async (
    partners: readonly PartnerPlan[],
    force: boolean,
    onChange: (line: string) => void,
  ) => {
    const state = await readState(client, stage);
    requirePlans(state, partners);
    const unknown = listUnknown(stage, state, partners);
    if (!force) requireNoUnknown(stage, unknown);
    for (const { id, name } of unknown) {
      await client.send(new DeleteApiKeyCommand({ apiKey: id }));
      onChange(`${name}: deleted, because it is not in the database`);
    }
    for (const partner of partners) {
      const line = await syncPartner(state, partner);
      if (line) onChange(line);
    }
  };

  return {
    /** @throws CommandError if the stage is not deployed or cannot be reached. Changes nothing. */
    requireStage: async (): Promise<void> => {
      await readPlans(client, stage).catch((error: unknown) => fail(error, "The database was not changed."));
    },

    /**
     * Ensures that each partner with an active API key has a usage key in its plan, and that no other partner has one.
     *
     * @param force deletes usage keys that are not in the database, instead of failing.
     * @param onChange receives one line per changed partner.
     * @throws CommandError that says what to do. A repeated call continues where this one stopped.
     */
    sync: (
      partners: readonly PartnerPlan[],
      { force, onChange }: { readonly force: boolean; readonly onChange: (line: string) => void },
    ): Promise<void> =>
      syncAll(partners, force, onChange)
        .catch((error: unknown) => {
          if (isConflict(error)) return syncAll(partners, force, onChange);
          throw error;
        })
        .catch((error: unknown) =>
          fail(
            error,
            `The database change was kept. Fix the cause, then run: ${cityCommand("partner", "sync")}`,
          ),
        ),
  };
};
