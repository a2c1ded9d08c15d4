import { expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { restoredStage, synthesizeWith } from "./composed-stage.ts";

type Context = Readonly<Record<string, unknown>>;

const [ipv6, nat] = examples.network;
const [domain] = examples.domain;
const [, instance] = examples.database;

/** What may change on a stage that is deployed. */
const contexts: Readonly<Record<string, Context>> = {
  ipv6: { network: ipv6 },
  nat: { network: nat },
  "ipv6 with a domain": { network: ipv6, domain },
  "nat with a domain": { network: nat, domain },
  "a restored database with backups outside": restoredStage(instance),
};
const changes = Object.keys(contexts).flatMap((from) =>
  Object.keys(contexts).flatMap((to) => (from === to ? [] : [[from, to] as const])),
);

const stacksWith = (name: string) => synthesizeWith({ stage: "prod", ...contexts[name] }).assembly.stacks;

/** CloudFormation reads weak references again only when it updates the stack that uses them. */
test.each(changes)("the change from %s to %s updates operations with what it watches", (from, to) => {
  const templates = (name: string) =>
    Map.groupBy(stacksWith(name), ({ stackName }) => stackName.endsWith("-operations"));
  const isSame = (isOperations: boolean) =>
    JSON.stringify(
      templates(from)
        .get(isOperations)
        ?.map(({ template }) => template),
    ) ===
    JSON.stringify(
      templates(to)
        .get(isOperations)
        ?.map(({ template }) => template),
    );
  expect([isSame(false), isSame(true)]).toEqual([false, false]);
});

test("operations stays as it is while nothing changes that it watches", () => {
  const [one, other] = [1, 2].map((unused) =>
    synthesizeWith({ stage: "prod", unused }).assembly.getStackByName("municipal-prod-operations"),
  );
  expect(one?.template).toEqual(other?.template);
});
