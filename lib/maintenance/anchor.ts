import { createHash } from "node:crypto";
import { Sha256 } from "@smithy/core/checksum";
import { HttpRequest } from "@smithy/core/protocols";
import { SignatureV4 } from "@smithy/signature-v4";
import { getSetting } from "#lib/config.ts";
import { httpClient, NoAnswer } from "#lib/http-client.ts";
import { readCredentials } from "#lib/secrets/secrets-manager.ts";

/** A seal as it is stored outside the database. */
export interface Anchor {
  readonly seal: string;
  /** Hexadecimal. */
  readonly digest: string;
}

const send = httpClient({ connectTimeoutMs: 1_000, maxAnswerBytes: 64 * 1024 });
const totalTimeoutMs = 3_000;

/** The key says everything, so that a list of the bucket is enough to verify the audit. Sorted by seal. */
export const keyOf = ({ seal, digest }: Anchor): string => `seals/${seal.padStart(12, "0")}-${digest}`;

/** @returns undefined for a key that is not an anchor's. */
export const findAnchor = (key: string): Anchor | undefined => {
  const { seal, digest } = /^seals\/0*(?<seal>\d+)-(?<digest>[\da-f]{64})$/.exec(key)?.groups ?? {};
  return seal && digest ? { seal, digest } : undefined;
};

const signer = () =>
  new SignatureV4({
    credentials: readCredentials(),
    region: getSetting("AWS_REGION"),
    service: "s3",
    sha256: Sha256,
    // S3 takes the path as it is
    uriEscapePath: false,
  });

/**
 * Headers of a PUT that S3 accepts into a bucket with Object Lock, which demands a checksum, and only as long as the key
 * is free.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
 */
const signPut = async (url: URL, body: string): Promise<Record<string, string>> => {
  const request = new HttpRequest({
    ...{ method: "PUT", protocol: url.protocol, hostname: url.hostname, path: url.pathname },
    headers: {
      host: url.host,
      "content-type": "application/json",
      "if-none-match": "*",
      "x-amz-checksum-sha256": createHash("sha256").update(body).digest("base64"),
    },
    body,
  });
  return (await signer().sign(request)).headers;
};

/**
 * Stores an anchor, which nobody can change or delete as long as the bucket retains it. Succeeds if it is stored already,
 * as after a lost answer.
 *
 * @throws Error with the status of S3, or NoAnswer
 */
export const storeAnchor = async (anchor: Anchor): Promise<void> => {
  const url = new URL(`${getSetting("AUDIT_ANCHORS_URL")}/${keyOf(anchor)}`);
  const body = JSON.stringify(anchor);
  const headers = await signPut(url, body);
  const { status } = await send({ method: "PUT", url: url.href, headers, body }, totalTimeoutMs).catch(
    (error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error;
      throw new Error(`the bucket did not answer for seal ${anchor.seal}: ${error.message}`);
    },
  );
  // 412: the key exists
  if (status !== 200 && status !== 412)
    throw new Error(`the bucket rejected seal ${anchor.seal} with status ${status}`);
};
