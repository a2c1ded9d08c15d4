import { SecretsManagerClient, type SecretsManagerClientConfig } from "@aws-sdk/client-secrets-manager";
import { lazy } from "#lib/cached.ts";
import { findSetting, getSetting } from "../config.ts";
import { jsonProtocol } from "./json-protocol.ts";

const requestTimeoutMs = 1_500;

type CredentialSource = NonNullable<SecretsManagerClientConfig["credentials"]>;

let source: CredentialSource | undefined;

/** Sets another source of credentials than the environment. Call it before the first use. */
export const takeCredentialsFrom = (provider: CredentialSource): void => {
  source = provider;
};

/** The credentials of the function's role. */
export const readCredentials = () => {
  const sessionToken = findSetting("AWS_SESSION_TOKEN");
  return {
    accessKeyId: getSetting("AWS_ACCESS_KEY_ID"),
    secretAccessKey: getSetting("AWS_SECRET_ACCESS_KEY"),
    ...(sessionToken && { sessionToken }),
  };
};

/**
 * Returns the client of Secrets Manager. The SDK's default endpoint supports IPv6 and IPv4, so a network without NAT
 * reaches it; `useDualstackEndpoint` would only change its name.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/userguide/ip-access.html
 *
 * Region, endpoint and credentials are given, not discovered: the default chains read files and cost
 * about 10 ms and 130 KB in a cold start. In Lambda all three are in the environment; a container gets its
 * credentials by HTTP instead, through `takeCredentialsFrom`. `infra/build/left-out.ts` relies on every setting here.
 */
export const secretsManager = lazy(async () => {
  const region = getSetting("AWS_REGION");
  const endpoint = findSetting("AWS_ENDPOINT_URL_SECRETS_MANAGER");
  const url = new URL(endpoint ?? `https://secretsmanager.${region}.amazonaws.com`);
  return new SecretsManagerClient({
    region,
    credentials: source ?? readCredentials(),
    endpoint: url.href,
    endpointProvider: () => ({ url }),
    maxAttempts: 2,
    retryMode: "standard",
    defaultsMode: "standard",
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    authSchemePreference: [],
    disableClockSkewCorrection: false,
    userAgentAppId: "municipal-integration-api",
    protocol: jsonProtocol,
    // by default the SDK only logs a warning after the request timeout, and continues to wait
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: requestTimeoutMs,
      // of an answer that stalls after its headers
      socketTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    },
  });
});
