import { AwsSolutionsChecks } from "cdk-nag";
import { expect, test } from "vitest";
import { examples } from "../../infra/config.ts";
import { composeWith } from "../steps/stage.ts";

const choices = ["dev", "prod"].flatMap((stage) =>
  examples.database.flatMap((database) => examples.network.map((network) => ({ stage, database, network }))),
);

test.each(choices)("AWS's solution checks find nothing that is not acknowledged: %o", (choice) => {
  const { app } = composeWith({ ...choice, domain: examples.domain[0] });
  const { violations } = new AwsSolutionsChecks(app).validateScope(app);
  const found = violations.map(({ ruleName, violatingResources }) =>
    [ruleName, ...violatingResources.map((resource) => JSON.stringify(resource))].join(" "),
  );
  expect(found).toEqual([]);
});
