import { AwsSolutionsChecks } from "cdk-nag";
import { expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { composeWith, restoredStage, validateWith } from "./composed-stage.ts";

const choices = ["dev", "prod"].flatMap((stage) =>
  examples.database.flatMap((database) => examples.network.map((network) => ({ stage, database, network }))),
);

const [aurora, instance, existing] = examples.database;
const [direct, byNat, existingNetwork] = examples.network;

test.each([
  ...choices.map((choice) => ({ ...choice, domain: examples.domain[0] })),
  restoredStage(aurora),
  restoredStage(instance),
])("all findings of AWS's solution checks are acknowledged: %o", (choice) => {
  const { app } = composeWith(choice);
  const { violations } = new AwsSolutionsChecks(app).validateScope(app);
  const found = violations.map(({ ruleName, violatingResources }) =>
    [ruleName, ...violatingResources.map((resource) => JSON.stringify(resource))].join(" "),
  );
  expect(found).toEqual([]);
});

test.each([
  { stage: "prod", database: aurora, network: direct, domain: examples.domain[0] },
  { stage: "prod", database: instance, network: byNat },
  { stage: "prod", database: existing, network: existingNetwork, messagingImage: examples.messagingImage[0] },
  { stage: "dev" },
  restoredStage(aurora),
  restoredStage(instance),
])(
  "the templates match the schemas of CloudFormation: %o",
  (choice) => expect(() => validateWith(choice)).not.toThrow(),
  // the first one compiles the validator, for some seconds of a core's time
  120_000,
);
