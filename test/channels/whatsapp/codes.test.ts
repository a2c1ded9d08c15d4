import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeRejection, findRejection } from "#lib/channels/codes.ts";
import { actions } from "#lib/channels/rejection.ts";
import { rejections } from "#lib/channels/whatsapp/codes.ts";

test("the runbook has the table of rejections", () => {
  const rows = Object.entries(rejections).map(
    ([code, { says, action, operator }]) => `| ${code} | ${says} | ${actions[action]} | ${operator} |`,
  );
  const runbook = readFileSync("lib/docs/guides/en/runbook.md", "utf8");
  const [, table = ""] = /\n\| Code .*\n\| ---.*\n((?:\|.*\n)+)/.exec(runbook) ?? [];
  expect(table.trim().split("\n")).toEqual(rows);
});

test.each([
  ["463", "pause"],
  ["500", "wait"],
  ["503", "wait"],
  ["599", "wait"],
  ["50", "fail"],
  ["488", "fail"],
  ["constructor", "fail"],
])("code %s has the action %s", (code, action) => {
  expect(findRejection("whatsapp", code).action).toBe(action);
});

test("the reason of a failed message has the code and words", () => {
  expect(describeRejection("whatsapp", "404")).toBe(
    "rejected by the platform, code 404: the number has no account",
  );
});
