import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import * as z from "zod/mini";
import { type RotationStep, rotationSteps } from "#lib/secrets/table/rotation.ts";
import type { Outcome } from "../lambda/environment.ts";
import { serveHttp } from "../loopback.ts";
import type { SecretStore, Version } from "./store.ts";

export type SecretsServer = Awaited<ReturnType<typeof startSecretsServer>>;

const Named = z.object({ SecretId: z.string() });
const Get = z.object({ VersionId: z.optional(z.string()), VersionStage: z.optional(z.string()) });
const Put = z.object({
  SecretString: z.string(),
  VersionStages: z.optional(z.array(z.string())),
  // an SDK makes one where a caller has none
  // https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_PutSecretValue.html
  ClientRequestToken: z.string().check(z.minLength(32), z.maxLength(64)),
});
const Tagging = z.object({ Tags: z.array(z.object({ Key: z.string(), Value: z.string() })) });
const Update = z.object({
  VersionStage: z.string(),
  MoveToVersionId: z.string(),
  RemoveFromVersionId: z.optional(z.string()),
});

/** An ARN ends in six random characters, which are not part of the name. */
const arnOf = (name: string) => `arn:aws:secretsmanager:local:000000000000:secret:${name}-AbCdEf`;
const nameOf = (id: string) => id.replace(/^arn:.+:secret:(.+)-\w{6}$/, "$1");
const identify = (name: string) => ({ ARN: arnOf(name), Name: name });
const describe = (name: string, { id, stages }: Version) => ({
  ...identify(name),
  VersionId: id,
  VersionStages: stages,
});

const reject = (type: string, message: string) => ({ status: 400, body: { __type: type, message } });
const notFound = reject(
  "ResourceNotFoundException",
  "Secrets Manager can't find the specified secret or the version of it.",
);
const done = (body: object) => ({ status: 200, body });

/** Operations of Secrets Manager by name. */
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
    const held = store.find(name, { versionId: ClientRequestToken });
    if (held && held.value !== SecretString)
      return reject("ResourceExistsException", "The version has another value already.");
    const options = {
      ...(VersionStages && { stages: VersionStages }),
      id: ClientRequestToken,
    };
    return done(describe(name, held ?? store.put(name, SecretString, options)));
  },
  DescribeSecret(store, name) {
    const versions = store.list(name) ?? [];
    const stages = Object.fromEntries(versions.map((version) => [version.id, version.stages]));
    const Tags = Object.entries(store.tags(name)).map(([Key, Value]) => ({ Key, Value }));
    return done({ ...identify(name), VersionIdsToStages: stages, Tags });
  },
  TagResource(store, name, input) {
    for (const { Key, Value } of Tagging.parse(input).Tags) store.tag(name, Key, Value);
    return done({});
  },
  UpdateSecretVersionStage(store, name, input) {
    const { VersionStage, MoveToVersionId, RemoveFromVersionId } = Update.parse(input);
    const versions = store.list(name) ?? [];
    const holder = versions.find(({ stages }) => stages.includes(VersionStage));
    if (!versions.some(({ id }) => id === MoveToVersionId)) return notFound;
    if (holder && holder.id !== RemoveFromVersionId)
      return reject(
        "InvalidParameterException",
        "The stage belongs to a version other than RemoveFromVersionId.",
      );
    store.move(name, VersionStage, MoveToVersionId);
    return done(identify(name));
  },
};

/** Runs one step of a rotation, like a rotation function. */
type Rotate = (step: RotationStep) => Promise<Outcome>;

/** Unlike AWS, responds after the last step and does not retry a failed step. */
const rotateSecret = async (store: SecretStore, name: string, rotate: Rotate) => {
  const token = store.begin(name);
  for (const Step of rotationSteps)
    if ("errorMessage" in (await rotate({ Step, SecretId: arnOf(name), ClientRequestToken: token }))) break;
  return done({ ...identify(name), VersionId: token });
};

const answer = (store: SecretStore, action: string, input: unknown, rotate: Rotate | undefined) => {
  const name = nameOf(Named.parse(input).SecretId);
  if (!store.list(name)) return notFound;
  if (action === "RotateSecret" && rotate) return rotateSecret(store, name, rotate);
  return (
    operations[action]?.(store, name, input) ?? reject("UnknownOperationException", `no operation ${action}`)
  );
};

const actionOf = ({ headers }: IncomingMessage) => String(headers["x-amz-target"] ?? "").split(".")[1] ?? "";

/**
 * Serves the parts of Secrets Manager that the product uses on loopback, for the real SDK client.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 *
 * @param rotate rotation function of every secret.
 */
export const startSecretsServer = (store: SecretStore, rotate?: Rotate) => {
  const server = createServer(async (request, response) => {
    const { status, body } = await json(request)
      .then((input) => answer(store, actionOf(request), input, rotate))
      .catch(() => reject("InvalidRequestException", "malformed request"));
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  return serveHttp(server);
};
