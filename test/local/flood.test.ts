import { Agent, request } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Api } from "../../infra/aws/api.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { messagingApi } from "../../infra/aws/messaging-api.ts";
import { startGateway } from "../../infra/local/gateway/gateway.ts";
import { restApiOf } from "../../infra/local/gateway/route-table.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";

/** The integration API answers 6,000 requests before it limits an address. */
vi.setConfig({ testTimeout: 60_000 });

const payload = (value: unknown): Outcome => ({ payload: JSON.stringify(value) });
const policy = payload({
  principalId: "p",
  usageIdentifierKey: "u",
  policyDocument: {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: "*" }],
  },
});

/** A gateway whose authorizers accept any credentials, and whose functions answer at once. */
const open = async (api: Api): Promise<string> => {
  const gateway = await startGateway({
    ...{ api: restApiOf(api), perAddress: api.firewall.perAddress },
    invoke: async (fn, event) => {
      if (!fn.startsWith("authorizers/")) return payload({ statusCode: 200, body: "{}" });
      const { headers } = event as { headers: Record<string, string> };
      const hasCredentials = headers.apikey ?? headers.authorization;
      return hasCredentials ? policy : { errorType: "Error", errorMessage: "Unauthorized" };
    },
    findPlan: async () => "portal",
  });
  onTestFinished(() => gateway.stop());
  return gateway.url;
};

/** Sends requests from an address of this machine. */
const callerAt = (localAddress: string, headers: Record<string, string>) => {
  const agent = new Agent({ keepAlive: true, localAddress });
  onTestFinished(() => agent.destroy());
  return (url: string) =>
    new Promise<{ status: number | undefined; limit: string | undefined }>((resolve, reject) => {
      const sent = request(url, { method: "POST", agent, headers }, (response) => {
        const limit = response.headers.ratelimit as string | undefined;
        response.resume().on("end", () => resolve({ status: response.statusCode, limit }));
      });
      sent.on("error", reject).end();
    });
};

const connections = 32;
const byAddress = '"address";r=0;t=60';

/** Floods a URL from one address while another address with credentials calls it. @returns what both got. */
const flood = async (url: string, credentials: Record<string, string>, isServedFirst: boolean) => {
  const anonymous = callerAt("127.0.0.2", {});
  const caller = callerAt("127.0.0.3", credentials);
  const limited = Promise.withResolvers<void>();
  let [isLimited, isOver, unlimited] = [false, false, 0];
  const flooding = Array.from({ length: connections }, async () => {
    while (!isOver) {
      const { limit } = await anonymous(url);
      if (limit !== byAddress) unlimited += 1;
      else if (!isLimited) {
        isLimited = true;
        limited.resolve();
      }
    }
  });
  if (!isServedFirst) await limited.promise;
  const statuses: (number | undefined)[] = [];
  while (!isLimited || statuses.length < 30) statuses.push((await caller(url)).status);
  isOver = true;
  await Promise.all(flooding);
  return { statuses: [...new Set(statuses)], unlimited };
};

test("while one address floods the messaging API without credentials, every caller with credentials is served", async () => {
  const url = await open(messagingApi);
  const answers = await flood(`${url}/send/message`, { authorization: "Basic eDp5" }, true);
  expect(answers).toEqual({ statuses: [200], unlimited: 1_200 });
});

test("as soon as an address that floods the integration API is limited, every caller with credentials is served", async () => {
  const url = await open(integrationApi);
  const answers = await flood(`${url}/v1/penduduk`, { apikey: "k" }, false);
  expect(answers).toEqual({ statuses: [200], unlimited: 6_000 });
});
