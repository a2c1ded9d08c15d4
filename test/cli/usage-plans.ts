import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { serve } from "../steps/http-server.ts";

interface Key {
  id: string;
  name: string;
  value: string;
  enabled: boolean;
}

/** API Gateway's memory of keys and plans: what the product's template makes, and what its command changes. */
export interface UsagePlans {
  readonly url: string;
  readonly keys: Key[];
  /** Ids of the keys in each plan, by the plan's name. */
  readonly plans: Map<string, string[]>;
  /** Names of the operations that changed something, in order. */
  readonly changes: string[];
  /** Answers the next call of an operation with this error; the call may do its work first. */
  fail(operation: string, name: string, work?: () => void): void;
}

const statusOf: Readonly<Record<string, number>> = {
  NotFoundException: 404,
  ConflictException: 409,
  AccessDeniedException: 403,
};

class Refusal extends Error {}

/** Small, so that tests detect missing pagination. */
const pageSize = 2;

const page = (items: readonly unknown[], query: URLSearchParams) => {
  const from = Number(query.get("position") ?? 0);
  const next = from + pageSize;
  return { item: items.slice(from, next), ...(next < items.length && { position: String(next) }) };
};

/**
 * The part of API Gateway's control plane that `npm run city -- partner` uses, on loopback, until the test ends.
 * @see https://docs.aws.amazon.com/apigateway/latest/api/API_Operations.html
 */
export const startUsagePlans = async (...names: string[]): Promise<UsagePlans> => {
  const keys: Key[] = [];
  const plans = new Map<string, string[]>(names.map((name) => [name, []]));
  const changes: string[] = [];
  const failures = new Map<string, { name: string; work: () => void }>();

  const getKey = (id: unknown): Key => {
    const key = keys.find((known) => known.id === id);
    if (!key) throw new Refusal("NotFoundException");
    return key;
  };
  const getPlan = (name: string): string[] => {
    const plan = plans.get(name);
    if (!plan) throw new Refusal("NotFoundException");
    return plan;
  };
  const leave = (plan: string[], keyId: string) => {
    if (!plan.includes(keyId)) throw new Refusal("NotFoundException");
    plan.splice(plan.indexOf(keyId), 1);
  };

  // biome-ignore lint/suspicious/noExplicitAny: what the SDK's own client has written
  type Operation = (ids: string[], query: URLSearchParams, body: any) => unknown;
  const operations: Readonly<Record<string, Operation>> = {
    "GET /apikeys": (_, query) => {
      const shown = query.get("includeValues") === "true" ? keys : keys.map(({ value: _, ...key }) => key);
      return page(shown, query);
    },
    "POST /apikeys": (_, __, { name, value, enabled }) => {
      if (keys.some((key) => key.value === value)) throw new Refusal("ConflictException");
      keys.push({ id: randomUUID().slice(0, 8), name, value, enabled });
      return keys.at(-1);
    },
    "PATCH /apikeys/*": ([id], _, { patchOperations }) => {
      const [{ op, path, value }] = patchOperations;
      if (`${op} ${path}` !== "replace /enabled") throw new Refusal("BadRequestException");
      return Object.assign(getKey(id), { enabled: value === "true" });
    },
    "DELETE /apikeys/*": ([id]) => {
      keys.splice(keys.indexOf(getKey(id)), 1);
      for (const plan of plans.values()) if (plan.includes(id ?? "")) leave(plan, id ?? "");
    },
    "GET /usageplans": (_, query) =>
      page(
        [...plans.keys()].map((name) => ({ id: name, name })),
        query,
      ),
    "GET /usageplans/*/keys": ([plan = ""], query) => page(getPlan(plan).map(getKey), query),
    "POST /usageplans/*/keys": ([name = ""], _, { keyId }) => {
      // all plans here are of the same stage
      if ([...plans.values()].some((plan) => plan.includes(keyId))) throw new Refusal("ConflictException");
      getPlan(name).push(getKey(keyId).id);
      return getKey(keyId);
    },
    "DELETE /usageplans/*/keys/*": ([name = "", keyId = ""]) => leave(getPlan(name), keyId),
  };

  const answer = (operation: string, ids: string[], query: URLSearchParams, body: unknown) => {
    const failure = failures.get(operation);
    if (failure) {
      failures.delete(operation);
      failure.work();
      throw new Refusal(failure.name);
    }
    const work = operations[operation];
    if (!work) throw new Refusal("BadRequestException");
    if (!operation.startsWith("GET")) changes.push(operation);
    return work(ids, query, body);
  };

  const url = await serve(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://loopback");
    const ids: string[] = [];
    const pattern = pathname.replaceAll(/(?<=\/(?:apikeys|usageplans|keys)\/)[^/]+/g, (id) => {
      ids.push(decodeURIComponent(id));
      return "*";
    });
    const sent = await text(request);
    const headers = { "content-type": "application/json" };
    try {
      const body = answer(`${request.method} ${pattern}`, ids, searchParams, sent ? JSON.parse(sent) : {});
      response.writeHead(body ? 200 : 202, headers).end(JSON.stringify(body ?? {}));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response
        .writeHead(statusOf[error.message] ?? 400, { ...headers, "x-amzn-errortype": error.message })
        .end(JSON.stringify({ message: `told to answer ${error.message}` }));
    }
  });
  const fail: UsagePlans["fail"] = (operation, name, work = () => {}) =>
    failures.set(operation, { name, work });
  return { url, keys, plans, changes, fail };
};
