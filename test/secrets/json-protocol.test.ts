import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { beforeEach, expect, test, vi } from "vitest";
import { serve } from "../steps/http-server.ts";

beforeEach(() => {
  vi.resetModules();
  vi.unstubAllEnvs();
  vi.stubEnv("AWS_REGION", "ap-southeast-3");
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) vi.stubEnv(name, "invented");
});

type Answer = (response: ServerResponse) => unknown;

const json =
  (status: number, body: object): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));

/** Serves one answer after the other, the last one again and again. @returns the requests, with their bodies. */
const serveAnswers = async (...answers: readonly Answer[]) => {
  const requests: { request: IncomingMessage; body: unknown }[] = [];
  const url = await serve(async (request, response) => {
    requests.push({ request, body: JSON.parse(await text(request)) });
    answers[Math.min(requests.length, answers.length) - 1]?.(response);
  });
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", url);
  return requests;
};

const read = async () => {
  const { secretsManager } = await import("#lib/secrets/secrets-manager.ts");
  return (await secretsManager()).send(new GetSecretValueCommand({ SecretId: "one" }));
};

const found = json(200, { SecretString: "value" });

test("an operation is a signed POST with its name and its input as JSON", async () => {
  const requests = await serveAnswers(found);
  expect((await read()).SecretString).toBe("value");
  const [{ request, body } = expect.fail()] = requests;
  expect([request.method, request.url, body]).toEqual(["POST", "/", { SecretId: "one" }]);
  expect(request.headers).toMatchObject({
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": "secretsmanager.GetSecretValue",
    authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 .*SignedHeaders=.*x-amz-target/),
  });
});

const namespaced = "com.amazonaws.secretsmanager#ResourceNotFoundException";

test.each([
  ["in `__type`, with a namespace", { __type: namespaced }, {}],
  ["in `__type`, without one", { __type: "ResourceNotFoundException" }, {}],
  ["in `__type`, with a URL", { __type: `${namespaced}:http://internal.example/` }, {}],
  ["in `code`", { code: "ResourceNotFoundException" }, {}],
  ["in a header", {}, { "x-amzn-errortype": "ResourceNotFoundException:http://internal.example/" }],
])("the service names an error %s", async (_, body, headers) => {
  await serveAnswers((response) =>
    response.writeHead(400, headers).end(JSON.stringify({ ...body, Message: "no such secret" })),
  );
  await expect(read()).rejects.toMatchObject({
    name: "ResourceNotFoundException",
    message: "no such secret",
    $metadata: { httpStatusCode: 400 },
  });
});

test("an error without a body has its status as its message", async () => {
  await serveAnswers((response) => response.writeHead(403).end("null"));
  await expect(read()).rejects.toMatchObject({ name: "Unknown", message: "HTTP 403" });
});

test("an answer that is cut or no JSON is an error that does not quote it", async () => {
  await serveAnswers((response) => response.writeHead(200).end('{"SecretString":"hush'));
  const error = await read().catch((reason) => reason);
  expect(error.message).toContain("the answer is no JSON");
  expect(error.message).not.toContain("hush");
});

test("an answer that stalls after its headers is asked for again", { timeout: 20_000 }, async () => {
  const requests = await serveAnswers((response) => response.writeHead(200).write("{"), found);
  expect((await read()).SecretString).toBe("value");
  expect(requests).toHaveLength(2);
});

test.each([
  ["a throttled request", json(400, { __type: "ThrottlingException", message: "Rate exceeded" })],
  ["a 503 whose body is no JSON", (response: ServerResponse) => response.writeHead(503).end("<html>")],
])("%s is sent a second time", async (_, failed) => {
  const requests = await serveAnswers(failed, found);
  expect((await read()).SecretString).toBe("value");
  expect(requests).toHaveLength(2);
});

test("a refused request is not sent again", async () => {
  const requests = await serveAnswers(json(400, { __type: "AccessDeniedException", Message: "no" }), found);
  await expect(read()).rejects.toThrow("no");
  expect(requests).toHaveLength(1);
});

test("an answer that ends too early is an error", async () => {
  await serveAnswers((response) => {
    response.writeHead(200, { "content-length": "100" }).write("{");
    response.destroy();
  });
  await expect(read()).rejects.toThrow();
});

test("a version that is written without an ID gets one, because no SDK makes it", async () => {
  const requests = await serveAnswers(json(200, {}));
  const { writeVersion } = await import("#lib/secrets/secret-version.ts");
  await writeVersion("one", { password: "invented" });
  expect(requests[0]?.body).toMatchObject({ ClientRequestToken: expect.stringMatching(/^[\da-f-]{36}$/) });
});
