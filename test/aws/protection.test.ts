import { expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { composeWith, synthesizeWith } from "./composed-stage.ts";

const [aurora, instance, existing] = examples.database;

/** The calls by which a stage is protected. */
const callsWith = (stage: string, database: unknown) =>
  Object.values(synthesizeWith({ stage, database }).resourcesOf(`municipal-${stage}-operations`))
    .filter(({ Type }) => Type === "Custom::Protection")
    .map(({ Properties: { Create, Update } }) => {
      expect(Update).toEqual(Create);
      return JSON.stringify(Create).replaceAll("\\", "");
    })
    .toSorted();

const serverIsKept = '"DeletionProtection":true,"ApplyImmediately":true}';

test.each([
  ["aurora", aurora, ["modifyDBCluster"]],
  ["instance", instance, ["modifyDBInstance"]],
  ["existing", existing, []],
])("the last stack protects a database of the kind %s in production", (_, database, actions) => {
  expect(callsWith("prod", database)).toEqual([
    ...actions.map((action) => expect.stringMatching(new RegExp(`"action":"${action}".+${serverIsKept}`))),
  ]);
});

/** API Gateway uses it for the whole account; has no fixed name. */
const ofTheAccount = /^GatewayApi(CloudWatchRole|Account)/;

test.each(["prod", "dev"])("a first deployment of %s that fails can delete all that it created", (stage) => {
  const { assembly, ...composed } = { ...composeWith({ stage }), ...synthesizeWith({ stage }) };
  for (const { template } of assembly.stacks)
    for (const [id, resource] of Object.entries<{ DeletionPolicy?: string; Properties?: object }>(
      template.Resources,
    )) {
      if (ofTheAccount.test(id)) continue;
      expect([id, resource.DeletionPolicy]).not.toEqual([id, "Retain"]);
      expect([id, resource.Properties]).not.toHaveProperty("1.DeletionProtection");
    }
  expect(composed.data.terminationProtection ?? false).toBe(false);
});

test("a stage that is not production is not protected", () => expect(callsWith("dev", aurora)).toEqual([]));
