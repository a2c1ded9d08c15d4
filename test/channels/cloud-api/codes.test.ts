import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isAmbiguous, isOfAccount, rejections } from "#lib/channels/cloud-api/codes.ts";
import { findRejection } from "#lib/channels/codes.ts";
import { actions } from "#lib/channels/rejection.ts";

test.each([
  [["4", "429", "80007", "130429", "131048", "131057", "133004"], "slow-down"],
  [["131056", "134101"], "wait"],
  [["100", "130472", "131026", "131047", "131049", "131050", "131051", "131052", "131053"], "fail"],
  [["132000", "132001", "132005", "132007", "132012", "132015", "132016", "132018"], "fail"],
  [["1", "999999", "constructor", ""], "fail"],
] as const)("codes %j have the action %s", (codes, action) => {
  expect(codes.map((code) => findRejection("cloud-api", code).action)).toEqual(codes.map(() => action));
});

test("no code is about both a message and the account, or has an outcome that is not known", () => {
  const listed = Object.keys(rejections).filter((code) => code !== "other");
  expect(listed.filter((code) => isOfAccount(Number(code)))).toEqual([]);
  expect(listed.filter((code) => isAmbiguous(503, Number(code)))).toEqual([]);
});

test("the runbook has the table of codes", () => {
  const rows = Object.entries(rejections).map(
    ([code, { says, action, operator }]) => `| ${code} | ${says} | ${actions[action]} | ${operator} |`,
  );
  const [, table = ""] =
    /\n### Codes of the WhatsApp Business Platform\n[^|]*\| Code .*\n\| ---.*\n((?:\|.*\n)+)/.exec(
      readFileSync("lib/docs/guides/en/runbook.md", "utf8"),
    ) ?? [];
  expect(table.trim().split("\n")).toEqual(rows);
});
