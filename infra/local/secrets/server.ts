import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import * as z from "zod/mini";
import type { SecretStore, Version } from "./store.ts";

export interface SecretsServer {
  readonly url: string;
  stop(): Promise<void>;
}

const Named = z.object({ SecretId: z.string() });
const Get = z.object({ VersionId: z.optional(z.string()), VersionStage: z.optional(z.string()) });
const Put = z.object({
  SecretString: z.string(),
  VersionStages: z.optional(z.array(z.string())),
  ClientRequestToken: z.optional(z.string()),
});
const Update = z.object({
  VersionStage: z.string(),
  MoveToVersionId: z.string(),
  RemoveFromVersionId: z.optional(z.string()),
});

const arnPrefix = "arn:aws:secretsmanager:local:000000000000:secret:";
const identify = (name: string) => ({ ARN: `${arnPrefix}${name}`, Name: name });
const describe = (name: string, { id, stages }: Version) => ({
  ...identify(name),
  VersionId: id,
  VersionStages: stages,
});

const refuse = (type: string, message: string) => ({ status: 400, body: { __type: type, message } });
const notFound = refuse(
  "ResourceNotFoundException",
  "Secrets Manager can't find the specified secret or the version of it.",
);
const done = (body: object) => ({ status: 200, body });

/** By what it answers: the name of an operation of Secrets Manager. */
const operations: Readonly<
  Record<string, (store: SecretStore, name: string, input: unknown) => { status: number; body: object }>
> = {
  GetSecretValue(store, name, input) {
    const { VersionId, VersionStage } = Get.parse(input);
    const version = store.find(name, { versionId: VersionId, stage: VersionStage });
    if (!version) return notFound;
    const { value, createdAt } = version;
    return done({ ...describe(name, version), SecretString: value, CreatedDate: createdAt });
  },
  PutSecretValue(store, name, input) {
    const { SecretString, VersionStages, ClientRequestToken } = Put.parse(input);
    const held = store.find(name, { versionId: ClientRequestToken ?? "none" });
    if (held && held.value !== SecretString)
      return refuse("ResourceExistsException", "The version has another value already.");
    const options = {
      ...(VersionStages && { stages: VersionStages }),
      ...(ClientRequestToken && { id: ClientRequestToken }),
    };
    return done(describe(name, held ?? store.put(name, SecretString, options)));
  },
  DescribeSecret(store, name) {
    const versions = store.list(name) ?? [];
    const stages = Object.fromEntries(versions.map((version) => [version.id, version.stages]));
    return done({ ...identify(name), VersionIdsToStages: stages });
  },
  UpdateSecretVersionStage(store, name, input) {
    const { VersionStage, MoveToVersionId, RemoveFromVersionId } = Update.parse(input);
    const versions = store.list(name) ?? [];
    const holder = versions.find(({ stages }) => stages.includes(VersionStage));
    if (!versions.some(({ id }) => id === MoveToVersionId)) return notFound;
    if (holder && holder.id !== RemoveFromVersionId)
      return refuse("InvalidParameterException", "The stage is held by another version than the one named.");
    store.move(name, VersionStage, MoveToVersionId);
    return done(identify(name));
  },
};

const answer = (store: SecretStore, action: string, input: unknown) => {
  const operation = operations[action];
  if (!operation) return refuse("UnknownOperationException", `no operation ${action}`);
  const name = Named.parse(input).SecretId.replace(arnPrefix, "");
  return store.list(name) ? operation(store, name, input) : notFound;
};

const actionOf = ({ headers }: IncomingMessage) => String(headers["x-amz-target"] ?? "").split(".")[1] ?? "";

/**
 * The part of Secrets Manager that the product uses, on loopback, for the real SDK client.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 */
export const startSecretsServer = async (store: SecretStore): Promise<SecretsServer> => {
  const server = createServer(async (request, response) => {
    const { status, body } = await json(request)
      .then((input) => answer(store, actionOf(request), input))
      .catch(() => ({
        status: 400,
        body: { __type: "InvalidRequestException", message: "malformed request" },
      }));
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
