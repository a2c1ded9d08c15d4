import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findRejection } from "#lib/channels/codes.ts";
import { actions } from "#lib/channels/rejection.ts";
import { smsRejections } from "#lib/channels/sms/codes.ts";

test.each([
  [["402", "429"], "slow-down"],
  [["400", "404", "7", "21211", "REJECTED_PREFIX_MISSING", "constructor", ""], "fail"],
] as const)("codes %j have the action %s", (codes, action) => {
  expect(codes.map((code) => findRejection("sms", code).action)).toEqual(codes.map(() => action));
});

test("the runbook has the table of codes", () => {
  const rows = Object.entries(smsRejections).map(
    ([code, { says, action, operator }]) => `| ${code} | ${says} | ${actions[action]} | ${operator} |`,
  );
  const [, table = ""] =
    /\n### Codes of SMS gateways\n[^|]*\| Code .*\n\| ---.*\n((?:\|.*\n)+)/.exec(
      readFileSync("lib/docs/guides/en/runbook.md", "utf8"),
    ) ?? [];
  expect(table.trim().split("\n")).toEqual(rows);
});
