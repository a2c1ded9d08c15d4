import { createHash, createHmac } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serveHttp } from "../loopback.ts";

interface Version {
  readonly key: string;
  readonly id: string;
  readonly body: string;
  readonly at: string;
  readonly isMarker: boolean;
}

/** Codes with their status. @see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const statuses = {
  AccessDenied: 403,
  BadDigest: 400,
  InvalidRequest: 400,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  /** "Please reduce your request rate": S3 also answers it while it adds capacity to a prefix. */
  SlowDown: 503,
} as const;
type Code = keyof typeof statuses;

/** How the bucket behaves: well, with an error for every request, without an answer, or it stores and the answer is lost. */
export type BucketFailureMode = "well" | Code | "hang" | "lost answer";

/** S3 sends up to 1,000 a page, and may send fewer (API_ListObjectVersions). */
const maxKeys = 100;

const element = (name: string, ...content: readonly string[]) => `<${name}>${content.join("")}</${name}>`;

export type Bucket = Awaited<ReturnType<typeof startBucket>>;

/**
 * Serves what the product uses of one S3 bucket with versions and Object Lock in compliance mode, on loopback:
 *
 * - A PUT needs a checksum ("required for any request to upload an object with a retention period", API_PutObject;
 *   by default retention, too: kopia/kopia#711) and with
 *   `If-None-Match: *` a free key; it adds a version, and changes none.
 * - DELETE of a key adds a marker; that of a version is denied as long as it is retained, "by any user, including the root
 *   user" (S3 user guide, "Locking objects with Object Lock").
 *
 * @param file keeps the objects; without it they are in memory.
 */
export const startBucket = async (file?: string) => {
  const versions: Version[] = file && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const name = "audit-anchors";
  let failureMode: BucketFailureMode = "well";
  let now = Date.now();

  /** A list has seconds, in which a test stores more than one object. */
  const add = (version: Omit<Version, "id" | "at">) => {
    now = Math.max(Date.now(), now + 1_000);
    const at = `${new Date(now).toISOString().slice(0, 19)}.000Z`;
    versions.push({ ...version, id: `version${versions.length}`, at });
    if (file) writeFileSync(file, JSON.stringify(versions));
  };

  const put = (key: string, body: string, headers: IncomingMessage["headers"]): Code | undefined => {
    const sum = headers["x-amz-checksum-sha256"];
    if (!sum && !headers["content-md5"] && !headers["x-amz-checksum-crc32"]) return "InvalidRequest";
    if (sum && sum !== createHash("sha256").update(body).digest("base64")) return "BadDigest";
    const newest = versions.findLast((version) => version.key === key);
    if (headers["if-none-match"] === "*" && newest && !newest.isMarker) return "PreconditionFailed";
    add({ key, body, isMarker: false });
    return undefined;
  };

  const remove = (key: string, versionId: string | null): Code | undefined => {
    if (versionId) return "AccessDenied";
    add({ key, body: "", isMarker: true });
    return undefined;
  };

  /** Sorted by key, and within a key from the newest version to the oldest (API_ListObjectVersions). */
  const list = (query: URLSearchParams): string => {
    const sorted = versions.toReversed().toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
    const after = query.get("version-id-marker");
    const from = after ? sorted.findIndex(({ id }) => id === after) + 1 : 0;
    const page = sorted.slice(from, from + Number(query.get("max-keys") ?? maxKeys));
    const last = page.at(-1);
    const isTruncated = from + page.length < sorted.length;
    const entries = page.map(({ key, id, at, isMarker }) =>
      element(
        isMarker ? "DeleteMarker" : "Version",
        element("Key", key),
        element("VersionId", id),
        element("LastModified", at),
      ),
    );
    const next =
      isTruncated && last
        ? [element("NextKeyMarker", last.key), element("NextVersionIdMarker", last.id)]
        : [];
    return element("ListVersionsResult", element("IsTruncated", String(isTruncated)), ...next, ...entries);
  };

  const answer = (request: IncomingMessage, body: string): Code | { body: string } => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://s3");
    const [, bucket, ...path] = pathname.split("/");
    if (!isSigned(request, body, "local")) return "SignatureDoesNotMatch";
    if (bucket !== name) return "NoSuchBucket";
    const key = decodeURIComponent(path.join("/"));
    if (request.method === "GET" && searchParams.has("versions")) return { body: list(searchParams) };
    if (request.method === "PUT") return put(key, body, request.headers) ?? { body: "" };
    if (request.method === "DELETE") return remove(key, searchParams.get("versionId")) ?? { body: "" };
    return "MethodNotAllowed";
  };

  const respond = (response: ServerResponse, found: Code | { body: string }) => {
    if (typeof found !== "string")
      return response.writeHead(200, { "content-type": "application/xml" }).end(found.body);
    return response
      .writeHead(statuses[found], { "content-type": "application/xml" })
      .end(element("Error", element("Code", found), element("Message", found)));
  };

  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (failureMode === "hang") return;
    if (failureMode === "lost answer") {
      answer(request, body);
      request.socket.resetAndDestroy();
    } else respond(response, failureMode === "well" ? answer(request, body) : failureMode);
  });
  const { url, stop } = await serveHttp(server);
  return {
    name,
    /** URL of the bucket, as the functions use it. */
    url: `${url}/${name}`,
    /** Environment variables of a command that reads the bucket by an SDK client. */
    settings: {
      AWS_REGION: "local",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_S3: url,
    },
    versions: versions as readonly Version[],
    behave(wanted: BucketFailureMode) {
      failureMode = wanted;
    },
    stop,
  };
};

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/**
 * Whether a request to S3 has a valid signature of version 4, which covers its headers and its body.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
const isSigned = ({ method, url = "", headers }: IncomingMessage, body: string, secret: string): boolean => {
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
