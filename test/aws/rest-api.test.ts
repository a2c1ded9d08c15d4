import { expect, test } from "vitest";
import type { RestApi } from "../../infra/local/gateway/rest-api.ts";
import { restApiOf } from "../../infra/local/gateway/route-table.ts";
import { readAssembly } from "../interpreter/assembly.ts";
import { formStacks } from "../interpreter/formation.ts";
import { readFunctions } from "../interpreter/lambda-function.ts";
import { readRestApi } from "../interpreter/rest-api.ts";
import { synthesizeWith } from "./composed-stage.ts";

/** At the addresses that the definition's 404 names. */
const domain = {
  integrationHost: "services.city.example",
  messagingHost: "messages.city.example",
  certificateArn: "arn:aws:acm:ap-southeast-3:000000000000:certificate/0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9",
};
const { apis, assembly } = synthesizeWith({ stage: "test", domain });
const formation = formStacks(readAssembly(assembly.directory), {
  account: "000000000000",
  region: "ap-southeast-3",
});
const functions = readFunctions(formation);

/** Named by place, because a template has no order. */
const byPlace = ({ methods, ...api }: RestApi) => ({
  ...api,
  methods: Object.groupBy(methods, ({ httpMethod, path }) => `${httpMethod} ${path}`),
});

test.each(apis)("the template of the $api.name API describes what the local gateway serves", ({ api }) => {
  const template = readRestApi(formation, functions, `municipal-test-${api.name}`);
  expect(byPlace(template)).toEqual(byPlace(restApiOf(api)));
});
