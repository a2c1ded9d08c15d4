import { randomUUID } from "node:crypto";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import type { City } from "../../infra/local/city.ts";
import { localStage } from "../../infra/local/dev-file.ts";
import { startGateway } from "../../infra/local/gateway/gateway.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";
import { readAssembly } from "./assembly.ts";
import { type Formation, formStacks } from "./formation.ts";
import { type LambdaFunction, readFunctions } from "./lambda-function.ts";
import { type RunningFunction, startFunction } from "./lambda-service.ts";
import { readRestApi } from "./rest-api.ts";
import { guardSecrets } from "./secrets.ts";
import { listServiceAddresses } from "./service-address.ts";
import { upstream } from "./synth.ts";

/** The templates' APIs and functions, running on this machine before a city's database, secrets and systems. */
export interface Deployment {
  readonly baseUrl: string;
  readonly messagingBaseUrl: string;
  readonly functions: readonly LambdaFunction[];
  /**
   * Invokes a function directly, as a schedule or a deployment does.
   *
   * @param name its module under `functions/`, or where several run it the logical id of one.
   * @throws Error unless there is exactly one.
   */
  invoke(name: string, event: unknown): Promise<Outcome>;
  /** Runs another function, possibly with other settings than in the template. */
  start(fn: LambdaFunction): RunningFunction;
  /** Serves the next invocations from new processes. */
  renew(): Promise<void>;
  stop(): Promise<void>;
}

/** A placeholder account and region. */
export const place = { account: "000000000000", region: "ap-southeast-3" };

/**
 * Variables in addition to the template. Lambda sets the region and credentials; the rest is for this machine:
 * the address of Secrets Manager, and no TLS for the database on loopback, which has no certificate.
 */
const settingsOf = (secretsUrl: string) => ({
  AWS_REGION: place.region,
  AWS_DEFAULT_REGION: place.region,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsUrl,
  DATABASE_TLS: "disable",
});

/** Where the addresses of the stage's network are on this machine. Another address leads where it leads anywhere. */
const networkOf = (formation: Formation, functions: readonly LambdaFunction[], city: City): string => {
  const network = new URL("./network.ts", import.meta.url);
  const locate = (named: string, here: string) => {
    const { hostname, port } = new URL(named);
    network.searchParams.set(`${hostname}:${port || 80}`, new URL(here).host);
  };
  locate(upstream.legacyAuthUrl, city.upstreams.legacyAuthUrl);
  locate(upstream.employeeSystemUrl, city.upstreams.employeeSystemUrl);
  for (const address of listServiceAddresses(formation)) locate(`http://${address}`, city.messengerUrl);
  for (const { environment } of functions) {
    const { DATABASE_HOST, DATABASE_PORT } = environment;
    if (DATABASE_HOST) locate(`http://${DATABASE_HOST}:${DATABASE_PORT}`, city.database.adminUrl);
  }
  return network.href;
};

/** The runtime has it where this machine has none, and says so at every start. */
const isAboutRuntimeFile = (line: string) => line.includes("/var/runtime/ca-cert.pem");

/**
 * Starts what the templates describe.
 *
 * @param folder the cloud assembly. @param city what the functions find around them.
 * @param onLine receives each line that a function writes.
 */
export const deploy = async (
  folder: string,
  city: City,
  onLine: (line: string) => void = () => {},
): Promise<Deployment> => {
  const formation = formStacks(readAssembly(folder), place);
  const functions = readFunctions(formation);
  const secrets = await guardSecrets(functions, place, city.secretsUrl);
  const preloads = [networkOf(formation, functions, city)];
  const variables = settingsOf(secrets.url);
  const start = (fn: LambdaFunction) =>
    startFunction(fn, { variables, preloads, onLine: (line) => isAboutRuntimeFile(line) || onLine(line) });
  const running = new Map(functions.map((fn) => [fn.arn, start(fn)]));

  const invoke = async (name: string, event: unknown, requestId: string = randomUUID()) => {
    const named = functions.filter(({ id, module }) => [id, module].includes(name));
    const [found] = named.map(({ arn }) => running.get(arn));
    if (named.length !== 1 || !found) throw new Error(`the templates have ${named.length} functions ${name}`);
    return found.invoke(event, requestId);
  };
  const plans = city.database.connectAs("partner-admin");
  const { findPlan } = partnerDirectory(plans);
  const open = (name: string) => {
    const api = readRestApi(formation, functions, `municipal-${localStage}-${name}`);
    return startGateway({ api, invoke, findPlan });
  };
  const gateways = await Promise.all([open("integration"), open("messaging")]);
  const [{ url: baseUrl }, { url: messagingBaseUrl }] = gateways;
  return {
    ...{ baseUrl, messagingBaseUrl, functions, start, invoke },
    async renew() {
      await Promise.all([...running.values()].map((fn) => fn.renew()));
    },
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await Promise.all([...running.values()].map((fn) => fn.stop()));
      await secrets.stop();
      await plans.end({ timeout: 1 });
    },
  };
};
