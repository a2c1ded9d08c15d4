import type { Mutant } from "../mutant.ts";

const endpoint = ["test/http/endpoint.test.ts"];
const multipart = ["test/http/multipart.test.ts"];
const part = ["test/http/multipart-part.test.ts"];
const client = ["test/messaging/messenger-client.test.ts"];
const basic = ["test/messaging/basic-auth.test.ts"];
const text = ["test/contract/messaging-text.test.ts"];
const media = ["test/contract/messaging-media.test.ts"];

export const http: readonly Mutant[] = [
  {
    breaks: "An empty header hides the key in the other one",
    file: "functions/authorizers/api-key.ts",
    find: 'headers.apikey || headers["x-api-key"]',
    replace: 'headers.apikey ?? headers["x-api-key"]',
    tests: ["test/gateway/refusals.test.ts"],
    only: "beside an empty",
  },
  {
    breaks: "An authorizer that cannot tell who is calling says Unauthorized",
    file: "lib/http/authorizer.ts",
    find: 'throw new Error("The authorizer failed");',
    replace: 'throw new Error("Unauthorized");',
    tests: ["test/http/authorizer.test.ts"],
  },
  {
    breaks: "The policy admits to one route, and the gateway denies the next one from its cache",
    file: "lib/http/authorizer.ts",
    find: '.slice(0, 2).join("/")',
    replace: '.slice(0, 3).join("/")',
    tests: ["test/http/authorizer.test.ts"],
  },
  {
    breaks: "The 504 comes less than 200 ms before Lambda's limit",
    file: "lib/http/endpoint.ts",
    find: "const timeoutReserveMs = 300;",
    replace: "const timeoutReserveMs = 100;",
    tests: endpoint,
  },
  {
    breaks: "A body is read before it is known whether the caller has the scope",
    file: "lib/http/endpoint.ts",
    find: `      .use(requireCaller(route))
      .use(conditionalRequest(route))
      .use(route.body ? [...readBody] : [])`,
    replace: `      .use(conditionalRequest(route))
      .use(route.body ? [...readBody] : [])
      .use(requireCaller(route))`,
    tests: endpoint,
  },
  {
    breaks: "JSON is parsed before its size is checked",
    file: "lib/http/endpoint.ts",
    find: '[bodyLimit(route.maxBodyBytes), ...bodyReaders[route.encoding ?? "json"]]',
    replace: '[...bodyReaders[route.encoding ?? "json"], bodyLimit(route.maxBodyBytes)]',
    tests: endpoint,
  },
  {
    breaks: "A failure of a cacheable route is cached",
    file: "lib/http/endpoint.ts",
    find: "route.cache && statusCode < 400 ?",
    replace: "route.cache ?",
    tests: endpoint,
  },
  {
    breaks: "A failure is answered without the request's id",
    file: "lib/http/endpoint.ts",
    find: '"x-request-id": requestId,',
    replace: '...(statusCode < 400 && { "x-request-id": requestId }),',
    tests: endpoint,
  },
  {
    breaks: "A body of exactly the limit is 413",
    file: "lib/http/body.ts",
    find: '"utf8") > maxBytes',
    replace: '"utf8") >= maxBytes',
    tests: endpoint,
  },
  {
    breaks: "The base64 of a body is measured in place of its bytes",
    file: "lib/http/body.ts",
    find: 'byteLength(body, isBase64Encoded ? "base64" : "utf8")',
    replace: 'byteLength(body, isBase64Encoded ? "ascii" : "utf8")',
    tests: endpoint,
  },
  {
    breaks: "An answer of exactly the limit is not read",
    file: "lib/http-client.ts",
    find: "if (size > maxBytes)",
    replace: "if (size >= maxBytes)",
    tests: client,
    only: "64 KiB",
  },
  {
    breaks: "A multipart body with a full file and full fields beside it is 413",
    file: "lib/http/multipart.ts",
    find: "maxUploadBytes + 96 * 1024",
    replace: "maxUploadBytes + 64 * 1024",
    tests: multipart,
  },
  {
    breaks: "A part with exactly 4 KiB of headers is rejected",
    file: "lib/http/multipart-structure.ts",
    find: "blankLine > maxHeaderBytes",
    replace: "blankLine >= maxHeaderBytes",
    tests: part,
  },
  {
    breaks: "A field of exactly 64 KiB is 413",
    file: "lib/http/multipart-structure.ts",
    find: "content.length > maxFieldBytes",
    replace: "content.length >= maxFieldBytes",
    tests: multipart,
  },
  {
    breaks: "A twentieth part is 413",
    file: "lib/http/multipart-structure.ts",
    find: "number > maxParts",
    replace: "number >= maxParts",
    tests: multipart,
  },
  {
    breaks: "A filename* that cannot be decoded hides the readable filename beside it",
    file: "lib/http/multipart-headers.ts",
    find: "findExtended(extended) ?? (plain === undefined ? undefined : unquote(plain))",
    replace: 'extended === undefined ? unquote(plain ?? "") : findExtended(extended)',
    tests: ["test/http/multipart-part.test.ts"],
    only: "a file with",
  },
  {
    breaks: "A field may have the name of something that every object has",
    file: "lib/http/multipart-headers.ts",
    find: 'name === "prototype" || name in {}',
    replace: 'name === "prototype"',
    tests: multipart,
  },
  {
    breaks: "A file without a Content-Type, as Python's requests sends it, is taken for a field",
    file: "lib/http/multipart-headers.ts",
    find: "if (fileName !== undefined || sent === octetStream) {",
    replace: 'if ((fileName !== undefined && sent !== "") || sent === octetStream) {',
    tests: ["test/messaging/encoders.test.ts"],
    only: "requests",
  },
  {
    breaks: "What the task says to a 403 of ours is told to the caller",
    file: "lib/messaging/messenger-client.ts",
    find: "const internal = [401, 403, 500];",
    replace: "const internal = [401, 500];",
    tests: client,
    only: "rejects the internal token",
  },
  {
    breaks: "A message whose outcome is unknown is said not to have been accepted",
    file: "lib/messaging/messenger-client.ts",
    find: "throw new Fault(error.unsent ? notAccepted : unknown);",
    replace: "throw new Fault(error.timedOut ? unknown : notAccepted);",
    tests: client,
    only: "the outcome is unknown",
  },
  {
    breaks: "A download is given no more time than a text",
    file: "lib/messaging/messenger-client.ts",
    find: "draft.url === undefined ? totalTimeoutMs : downloadTimeoutMs",
    replace: "draft.url !== undefined ? totalTimeoutMs : downloadTimeoutMs",
    tests: client,
    only: "times out after 25 s",
  },
  {
    breaks: "Only the first of two credentials is accepted",
    file: "lib/messaging/basic-auth.ts",
    find: "return credentials.map(",
    replace: "return credentials.slice(0, 1).map(",
    tests: basic,
  },
  {
    breaks: "A password ends at its first colon",
    file: "lib/messaging/basic-auth.ts",
    find: "return decoder.decode(bytes);",
    replace: 'return decoder.decode(bytes).split(":").slice(0, 2).join(":");',
    tests: basic,
  },
  {
    breaks: "Credentials with foreign characters in their base64 are read",
    file: "lib/messaging/basic-auth.ts",
    find: 'if (!encoded || bytes.toString("base64") !== encoded) return undefined;',
    replace: "if (!encoded) return undefined;",
    tests: basic,
  },
  {
    breaks: "A number of 8 digits is rejected",
    file: "lib/messaging/phone.ts",
    find: "const digits = /^[1-9]\\d{7,14}$/;",
    replace: "const digits = /^[1-9]\\d{8,14}$/;",
    tests: text,
  },
  {
    breaks: "The Idempotency-Key of a file is not handed over",
    file: "functions/messaging/send-file.ts",
    find: 'idempotency_key: headers["idempotency-key"],',
    replace: "",
    tests: media,
    only: "Idempotency-Key",
  },
  {
    breaks: "A flag that is 1 counts as false",
    file: "lib/routes/messaging.ts",
    find: "/^(true|1)$/i.test(value)",
    replace: "/^true$/i.test(value)",
    tests: media,
    only: "the form says",
  },
  {
    breaks: "A form with both a file and an address is accepted",
    file: "lib/routes/messaging.ts",
    find: "(form[file] === undefined) !== (form[url] === undefined)",
    replace: "form[file] !== undefined || form[url] !== undefined",
    tests: media,
    only: "hands nothing over of",
  },
];
