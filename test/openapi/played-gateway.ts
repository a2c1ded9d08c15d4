import { onTestFinished } from "vitest";
import type { Api } from "../../infra/aws/api.ts";
import { startGateway } from "../../infra/local/gateway/gateway.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";

/** Lets everybody in, as any authorizer's answer does. */
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
  /** What the authorizers come to. */
  readonly authorization?: Outcome;
}

/** The local gateway with a definition that a test has changed, and functions that fail; gone with the test. */
export const startPlayedGateway = async (api: Api, { authorization = admission }: Played = {}) => {
  const gateway = await startGateway({
    api,
    port: 0,
    invoke: async (fn) =>
      fn.startsWith("authorizers/") ? authorization : { errorType: "Error", errorMessage: "played" },
    findPlan: async () => Object.keys(api.usagePlans)[0],
    onAccess: () => {},
  });
  onTestFinished(() => gateway.stop());
  return gateway.url;
};
