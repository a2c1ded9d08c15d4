import type { Readable } from "node:stream";
import {
  type SecretsManagerClientConfig,
  SecretsManagerServiceException,
} from "@aws-sdk/client-secrets-manager";
import { HttpRequest, type HttpResponse } from "@smithy/core/transport";

type Protocol = Extract<NonNullable<SecretsManagerClientConfig["protocol"]>, { serializeRequest: unknown }>;

interface Destination {
  readonly endpoint: () => Promise<ConstructorParameters<typeof HttpRequest>[0]>;
}

/** Collected by events: the SDK's way makes Node load web streams, and open both standard outputs. */
const readText = (stream: Readable): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    stream
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => resolve(Buffer.concat(chunks).toString()))
      .on("error", reject);
  });

/** A proxy's error may be no JSON. @throws Error for any other answer that is none, without its text: it may be a secret. */
const parse = (text: string, isError: boolean): Record<string, unknown> => {
  try {
    return JSON.parse(text || "{}") ?? {};
  } catch {
    if (isError) return {};
    throw new Error("the answer is no JSON");
  }
};

/** Such as `com.amazonaws.secretsmanager#ResourceNotFoundException:http://internal.amazon.com/coral/`. */
const nameOf = (type: unknown): string => String(type).split(":")[0]?.split("#").at(-1) || "Unknown";

/**
 * AWS JSON 1.1 for members that are texts, numbers, or lists and maps of them: times stay numbers, bytes stay base64, and nobody
 * makes a `ClientRequestToken`. The SDK finds out from schemas what else a member is, which takes 35 KB of each bundle.
 *
 * @see https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
 */
export const jsonProtocol = {
  async serializeRequest({ name }: { name: string }, input: object, { endpoint }: Destination) {
    return new HttpRequest({
      ...(await endpoint()),
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": `secretsmanager.${name}` },
      body: JSON.stringify(input),
    });
  },
  async deserializeResponse(_: unknown, __: unknown, { statusCode, headers, body }: HttpResponse) {
    const isError = statusCode >= 300;
    const reply = parse(await readText(body), isError);
    const $metadata = { httpStatusCode: statusCode, requestId: headers["x-amzn-requestid"] ?? "" };
    if (!isError) return { ...reply, $metadata };
    throw new SecretsManagerServiceException({
      name: nameOf(headers["x-amzn-errortype"] ?? reply.code ?? reply.__type ?? ""),
      message: String(reply.message ?? reply.Message ?? `HTTP ${statusCode}`),
      $fault: statusCode < 500 ? "client" : "server",
      $metadata,
    });
  },
  // it needs none of the client's functions
  setSerdeContext() {},
} as unknown as Protocol;
