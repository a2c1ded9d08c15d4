import { onTestFinished } from "vitest";
import type { Api } from "../../infra/aws/api.ts";
import { startGateway } from "../../infra/local/gateway/gateway.ts";
import { restApiOf } from "../../infra/local/gateway/route-table.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";

/** Allows everyone. */
const admission: Outcome = {
  payload: JSON.stringify({
    principalId: "1",
    usageIdentifierKey: "1",
    context: {},
    policyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: "*" }],
    },
  }),
};

export interface Played {
  /** The outcome of the authorizers. */
  readonly authorization?: Outcome;
}

/** The local gateway with a changed definition and failing functions; stops when the test ends. */
export const startPlayedGateway = async (api: Api, { authorization = admission }: Played = {}) => {
  const gateway = await startGateway({
    ...{ api: restApiOf(api), perAddress: api.firewall.perAddress },
    invoke: async (fn) =>
      fn.startsWith("authorizers/") ? authorization : { errorType: "Error", errorMessage: "played" },
    findPlan: async () => Object.keys(api.usagePlans)[0],
  });
  onTestFinished(() => gateway.stop());
  return gateway.url;
};
