import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loginRoles } from "#lib/db/roles.ts";
import { languages } from "#lib/openapi/text.ts";
import { billTable } from "../../infra/aws/cost/bill-table.ts";
import { costDocument, replaceCost } from "../../infra/aws/cost/cost-text.ts";
import { costOf, idleLines, totalOf } from "../../infra/aws/cost/estimate.ts";
import { takeInventory } from "../../infra/aws/cost/inventory.ts";
import { hoursPerMonth, prices } from "../../infra/aws/cost/prices.ts";
import { readGuideText } from "../steps/shell-lines.ts";
import { composeWith } from "./composed-stage.ts";

const { context } = JSON.parse(readFileSync("cdk.json", "utf8"));

test("a line costs the sum of its terms, and a bill the sum of its lines", () => {
  const task = { what: "Task", terms: [{ amount: 182.5, unit: "vCPU hours", price: 0.03238 }] };
  const keys = { what: "Keys", terms: [{ amount: 2, unit: "keys", price: 1 }] };
  expect(costOf(task)).toBeCloseTo(5.90935, 9);
  expect(totalOf([task, keys])).toBeCloseTo(7.90935, 9);
});

test("a table shows the arithmetic of each line, and a dash for lines that a bill lacks", () => {
  const keys = { what: "Keys", terms: [{ amount: 2, unit: "keys", price: 1 }] };
  const disk = { what: "Disk", terms: [{ amount: 1_460, unit: "GB", price: 0.115 }] };
  expect(
    billTable("Month", { one: [keys, disk], other: [keys] })
      .split("\n")
      .slice(2),
  ).toEqual([
    "| Keys | 2 keys × $1 | 2.00 | 2.00 |",
    "| Disk | 1,460 GB × $0.115 | 167.90 | – |",
    "| **Total** |  | **169.90** | **2.00** |",
  ]);
});

test("the guide contains the current cost of the templates in every language; npm run cost updates it", () => {
  const document = costDocument(context);
  for (const language of languages) {
    const guide = readGuideText(language, "cost");
    expect(replaceCost(guide, document)).toBe(guide);
  }
});

test("a NAT gateway costs what the guide says in each zone, and replaces the messenger's public address", () => {
  const inventory = takeInventory(composeWith({ stage: "prod", network: { egress: "nat" } }).app);
  expect([inventory.natGateways, inventory.publicAddresses]).toEqual([2, 2]);
  const gateways = idleLines("aurora", inventory).find(({ what }) => what === "NAT gateways");
  expect(costOf(gateways ?? expect.fail())).toBeCloseTo(2 * 32.85, 9);
  for (const guide of languages.map((language) => readGuideText(language, "cost"))) {
    for (const hourly of [prices.natGatewayHour, prices.publicAddressHour])
      expect(guide).toContain(`$${(hourly * hoursPerMonth).toFixed(2)}`);
    expect(guide).toContain(`$${prices.natGatewayGb} `);
  }
});

test("what the guide says is paid for on purpose has the price of the templates", () => {
  const total = (kind: "aurora" | "instance", stage: string) =>
    idleLines(kind, takeInventory(composeWith({ stage, database: { kind } }).app))
      .filter(({ what }) => what.startsWith("Database"))
      .reduce((sum, line) => sum + costOf(line), 0);
  const standbys = (["aurora", "instance"] as const).map((kind) => total(kind, "prod") - total(kind, "dev"));
  const roles = Object.keys(loginRoles).length * prices.secretMonth;
  for (const guide of languages.map((language) => readGuideText(language, "cost")))
    for (const price of [...standbys.map((standby) => standby.toFixed(2)), roles.toFixed(0)])
      expect(guide).toContain(`$${price}`);
});
