import type { Mutant } from "../mutant.ts";

const on = (name: string) => [`test/aws/${name}.test.ts`];

export const gateway: readonly Mutant[] = [
  {
    breaks: "Lambda stops a function one second before the endpoint would answer 504",
    file: "infra/aws/constructs/node-function.ts",
    find: "timeout: Duration.seconds(timeoutSeconds),",
    replace: "timeout: Duration.seconds(timeoutSeconds - 1),",
    tests: on("api-stack"),
  },
  {
    breaks: "The gateway gives up on a slow send before the endpoint answers 504",
    file: "infra/aws/constructs/gateway.ts",
    find: "new apigateway.LambdaIntegration(lambda, { allowTestInvoke: false }),",
    replace:
      "new apigateway.LambdaIntegration(lambda, { allowTestInvoke: false, timeout: Duration.seconds(25) }),",
    tests: on("api-stack"),
  },
  {
    breaks: "An address may try logins ten times as often",
    file: "infra/aws/integration-api.ts",
    find: "{ route: login, requestsPerMinute: 120 },",
    replace: "{ route: login, requestsPerMinute: 1_200 },",
    tests: on("limits"),
  },
  {
    breaks: "An address may send ten times as many requests to the messaging API, and uses up what all share",
    file: "infra/aws/messaging-api.ts",
    find: "requestsPerMinute: 1_200 }",
    replace: "requestsPerMinute: 12_000 }",
    tests: ["test/gateway/flood.test.ts"],
    only: "while one address floods the messaging API without credentials, every caller with credentials is served",
  },
  {
    breaks: "An address of an earlier version shows the page in English",
    file: "functions/docs/file.ts",
    find: 'lang === "id" && ',
    replace: 'lang === "en" && ',
    tests: ["test/docs/assets.test.ts"],
    only: "leads to /docs/id/paging",
  },
  {
    breaks: "A page has the address of another stage",
    file: "lib/docs/built.ts",
    find: ".replaceAll(placeholderBase, basePath())",
    replace: "",
    tests: ["test/docs/assets.test.ts"],
    only: "with the addresses of this stage",
  },
  {
    breaks: "A client that refuses brotli gets it",
    file: "lib/docs/coding.ts",
    find: "name === coding && !/^q=0(\\.0*)?$/.test(weight)",
    replace: 'name === coding && weight !== "x"',
    tests: ["test/docs/assets.test.ts"],
    only: "every client gets the same script, in a coding that it accepts",
  },
  {
    breaks: "A trial partner has the daily quota of a real one",
    file: "infra/aws/integration-api.ts",
    find: "requestsPerDay: 10_000 },",
    replace: "requestsPerDay: 5_000_000 },",
    tests: on("limits"),
  },
  {
    breaks: "A caller whose quota is used up is told to try again in a second",
    file: "lib/faults/table.ts",
    find: "  3_600,\n",
    replace: "  1,\n",
    tests: on("limits"),
  },
  {
    breaks: "The gateway's answer to credentials that do not suffice is 401 instead of 403",
    file: "lib/faults/table.ts",
    find: "noAccess = row(403,",
    replace: "noAccess = row(401,",
    tests: on("limits"),
  },
  {
    breaks: "The gateway keeps an access token's answer for an hour",
    file: "lib/routes/authorizer.ts",
    find: "cacheSeconds: 300,",
    replace: "cacheSeconds: 3_600,",
    tests: on("limits"),
  },
  {
    breaks: "Uploads reach the functions as text, because multipart is not binary",
    file: "infra/aws/constructs/gateway.ts",
    find: "binaryMediaTypes: [...api.binaryMediaTypes],",
    replace: "binaryMediaTypes: [...api.binaryMediaTypes].slice(1),",
    tests: on("api-stack"),
  },
];
