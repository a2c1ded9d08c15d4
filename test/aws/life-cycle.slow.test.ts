import { describe, expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { listUnexpected } from "./life/allowed.ts";
import {
  changesFrom,
  configurations,
  configuredKeys,
  isOtherNetwork,
  isOtherServer,
  leavesVault,
  lifeOf,
  usual,
  whenComplete,
} from "./life/configurations.ts";

test("every key of the context is in a configuration", () => {
  // each configuration is one of both stages
  const { stage: _, production: __, ...keys } = examples;
  expect(Object.keys(keys).filter((key) => !configuredKeys.has(key))).toEqual([]);
});

const first = configurations.filter((name) => name !== whenComplete);
const withoutVault = first.filter((name) => name !== leavesVault);
const inNetwork = (from: string) => changesFrom(from).filter((to) => !isOtherNetwork(from, to));
const onServer = (from: string) => inNetwork(from).filter((to) => !isOtherServer(from, to));
const otherServers = (from: string) => inNetwork(from).filter((to) => isOtherServer(from, to));

describe.each(["dev", "prod"])("%s", (stage) => {
  const life = lifeOf(stage);
  const unexpected = () => listUnexpected(life.take());
  const plain = configurations.filter((name) => name !== leavesVault);

  test.each(first)("with %s: a first deployment can fail at any resource, and be repeated", (name) => {
    life.failAndRetry(name);
    expect(unexpected()).toEqual([]);
  });

  test.each(plain)("with %s: the stacks without data can be destroyed, and created again", (name) => {
    life.destroyAndCreate(name, ["network", "data"]);
    expect(unexpected()).toEqual([]);
  });

  test.each(plain)("with %s: every key but database and range can be changed, and changed back", (from) => {
    for (const to of onServer(from)) life.changeAndBack(from, to);
    expect(unexpected()).toEqual([]);
  });

  test.each(onServer(usual))("the change to %s can fail at any resource, and be repeated", (to) => {
    life.failInChange(usual, to);
    expect(unexpected()).toEqual([]);
  });

  test.each(configurations)(
    "with %s: a database that the migration refuses leaves everything as it was",
    (from) => {
      for (const to of otherServers(from)) life.changeInVain(from, to, "Custom::Trigger");
      expect(unexpected()).toEqual([]);
    },
  );

  test.each(configurations)("with %s: a database with the data takes over", (from) => {
    for (const to of otherServers(from)) life.change(from, to);
    expect(unexpected()).toEqual([]);
  });

  test.each(configurations)("with %s: another network is refused by the first stack", (from) => {
    for (const to of changesFrom(from))
      if (isOtherNetwork(from, to)) expect(life.change(from, to)).toBe(false);
    for (const { resource, what } of life.take()) {
      expect(resource).toMatch(`municipal-${stage}-network:`);
      expect(what).toMatch(/^refused: the change of an export/);
    }
  });

  test("a vault that holds backups is taken over by its name", () => {
    const importing = lifeOf(stage, true);
    importing.destroyAndCreate(leavesVault, ["network", "data"]);
    importing.changeAndBack(leavesVault, usual);
    importing.changeAndBack(usual, leavesVault);
    expect(listUnexpected(importing.take())).toEqual([]);
  });

  test("once it is protected, its network and its data cannot be destroyed", () => {
    life.destroyAndCreate(whenComplete);
    expect(unexpected()).toMatchObject([
      {
        step: "destroy",
        resource: `municipal-${stage}-data`,
        what: "refused: the stack has termination protection",
      },
    ]);
    life.destroyAndCreate(whenComplete, ["data"]);
    expect(unexpected()).toMatchObject([
      {
        step: "destroy",
        resource: `municipal-${stage}-network`,
        what: "refused: the stack has termination protection",
      },
    ]);
  });
});

test.each(withoutVault)("dev with %s can be destroyed, and created again", (name) => {
  const life = lifeOf("dev");
  life.destroyAndCreate(name);
  expect(listUnexpected(life.take())).toEqual([]);
});

test.each(withoutVault)("prod with %s takes over the data of a stack that was destroyed", (name) => {
  const life = lifeOf("prod");
  life.destroyAndCreate(name, ["network"], ["data"]);
  expect(listUnexpected(life.take())).toEqual([]);
});
