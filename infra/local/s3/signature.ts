import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/**
 * Whether a request to S3 has a valid signature of version 4, which covers its headers and its body.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export const isSigned = (
  { method, url = "", headers }: IncomingMessage,
  body: string,
  secret: string,
): boolean => {
  const { scope, names, signature } =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(?<scope>[^,]+), SignedHeaders=(?<names>[^,]+), Signature=(?<signature>\w{64})$/.exec(
      headers.authorization ?? "",
    )?.groups ?? {};
  if (!scope || !names || headers["x-amz-content-sha256"] !== sha256(body)) return false;
  const signed = names.split(";");
  if (!["host", "x-amz-date", "x-amz-content-sha256"].every((name) => signed.includes(name))) return false;
  const { pathname, searchParams } = new URL(url, "http://s3");
  const query = [...searchParams].map((pair) => pair.map(encodeURIComponent).join("=")).toSorted();
  const lines = signed.map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, pathname, query.join("&"), lines.join(""), names, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString("hex") === signature;
};
