import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod/mini";
import { listenOnLoopback } from "../loopback.ts";
import type { SecretStore, Version } from "./store.ts";

export interface SecretsServer {
  readonly url: string;
  stop(): Promise<void>;
}

const Get = z.object({
  SecretId: z.string(),
  VersionId: z.optional(z.string()),
  VersionStage: z.optional(z.string()),
});
const Put = z.object({
  SecretId: z.string(),
  SecretString: z.string(),
  VersionStages: z.optional(z.array(z.string())),
});

const describe = (name: string, { id, stages }: Version) => ({
  ARN: `arn:aws:secretsmanager:local:000000000000:secret:${name}`,
  Name: name,
  VersionId: id,
  VersionStages: stages,
});

const notFound = {
  status: 400,
  body: { __type: "ResourceNotFoundException", message: "Secrets Manager can't find the specified secret." },
};

const answer = (store: SecretStore, action: string | undefined, input: unknown) => {
  if (action === "GetSecretValue") {
    const { SecretId, VersionId, VersionStage } = Get.parse(input);
    const version = store.find(SecretId, { versionId: VersionId, stage: VersionStage });
    if (!version) return notFound;
    const { value, createdAt } = version;
    return {
      status: 200,
      body: { ...describe(SecretId, version), SecretString: value, CreatedDate: createdAt },
    };
  }
  if (action === "PutSecretValue") {
    const { SecretId, SecretString, VersionStages } = Put.parse(input);
    if (!store.find(SecretId)) return notFound;
    return { status: 200, body: describe(SecretId, store.put(SecretId, SecretString, VersionStages)) };
  }
  return { status: 400, body: { __type: "UnknownOperationException", message: `no operation ${action}` } };
};

const actionOf = ({ headers }: IncomingMessage) => String(headers["x-amz-target"] ?? "").split(".")[1];

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
  });
  const { address, stop } = await listenOnLoopback(server);
  return { url: `http://${address}`, stop };
};
