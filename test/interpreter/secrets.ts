import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { allows } from "../../infra/local/gateway/policy.ts";
import type { Place } from "./identity.ts";
import type { LambdaFunction } from "./lambda-function.ts";

/**
 * A proxy of the local Secrets Manager: a function may do only what its role in the template allows. The access key
 * of the signature, which is not verified, identifies the caller.
 */
export const guardSecrets = async (
  functions: readonly LambdaFunction[],
  { account, region }: Place,
  secretsUrl: string,
) => {
  const callers = new Map(functions.map((fn) => [fn.accessKeyId, fn]));
  const prefix = `arn:aws:secretsmanager:${region}:${account}:secret:`;

  const mayCall = (authorization: string, action: string, secretId: string) => {
    const caller = callers.get(/Credential=(\w+)\//.exec(authorization)?.[1] ?? "");
    const arn = secretId.startsWith("arn:") ? secretId : `${prefix}${secretId}-AbCdEf`;
    return allows(caller?.statements ?? [], `secretsmanager:${action}`, arn);
  };

  /** The local one knows secrets by name. */
  const withName = (input: { SecretId: string }) => ({
    ...input,
    SecretId: input.SecretId.replace(prefix, "").replace(/-AbCdEf$/, ""),
  });

  const server = createServer(async (message, response) => {
    const action = String(message.headers["x-amz-target"]).split(".")[1] ?? "";
    const input = JSON.parse(await text(message));
    const type = { "content-type": "application/x-amz-json-1.1" };
    if (!mayCall(message.headers.authorization ?? "", action, input.SecretId)) {
      response.writeHead(400, type).end(JSON.stringify({ __type: "AccessDeniedException" }));
      return;
    }
    const answer = await fetch(secretsUrl, {
      method: "POST",
      headers: { ...type, "x-amz-target": String(message.headers["x-amz-target"]) },
      body: JSON.stringify(withName(input)),
    });
    response.writeHead(answer.status, type).end(await answer.text());
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
