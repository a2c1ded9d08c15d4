import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findRefusal } from "#lib/channels/codes.ts";
import { actions } from "#lib/channels/platform-codes.ts";
import { smsRefusals } from "#lib/channels/sms/codes.ts";

test.each([
  [["402", "429"], "slow-down"],
  [["400", "404", "7", "21211", "REJECTED_PREFIX_MISSING", "constructor", ""], "fail"],
] as const)("codes %j have the action %s", (codes, action) => {
  expect(codes.map((code) => findRefusal("sms", code).action)).toEqual(codes.map(() => action));
});

test("the runbook has the table of codes", () => {
  const rows = Object.entries(smsRefusals).map(
    ([code, { says, action, operator }]) => `| ${code} | ${says} | ${actions[action]} | ${operator} |`,
  );
  const [, table = ""] =
    /\n### Codes of SMS gateways\n[^|]*\| Code .*\n\| ---.*\n((?:\|.*\n)+)/.exec(
      readFileSync("infra/RUNBOOK.md", "utf8"),
    ) ?? [];
  expect(table.trim().split("\n")).toEqual(rows);
});
