import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { lifetimeSeconds } from "#lib/employee/access-token.ts";
import { carefulPace } from "#lib/messenger/send/pace.ts";
import { languages } from "#lib/openapi/text.ts";
import { sendFile, sendMessage } from "#lib/routes/messaging.ts";
import { listResidents } from "#lib/routes/resident.ts";
import { planCapacity } from "../../infra/aws/capacity.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { messagingApi } from "../../infra/aws/messaging-api.ts";
import { readGuideText } from "../steps/shell-lines.ts";

const { usagePlans, firewall, throttle } = integrationApi;
const propertiesOf = (schema: z.ZodMiniType | undefined) =>
  (schema ? z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).properties : {}) as Record<
    string,
    { maximum?: number; maxLength?: number } | undefined
  >;

describe.each(languages)("the guide to limits in %s", (language) => {
  const guide = readGuideText(language, "limits");
  const show = (value: number) => value.toLocaleString(language);

  test.each(Object.entries(usagePlans))("has the numbers of the plan %s", (name, plan) => {
    const numbers = [plan.requestsPerSecond, plan.burst, plan.requestsPerDay].map(show);
    expect(guide).toContain(`| \`${name}\` | ${numbers.join(" | ")} |`);
  });

  test("has the limits of an address, and of all callers", () => {
    const limits = [...firewall.perAddress.limits, ...messagingApi.firewall.perAddress.limits];
    for (const { requestsPerMinute } of limits)
      expect(guide).toMatch(new RegExp(` ${show(requestsPerMinute)}\\b`));
    for (const rate of [throttle, messagingApi.throttle]) {
      expect(guide).toContain(` ${show(rate.requestsPerSecond)} `);
      expect(guide).toContain(` ${show(rate.burst)}.`);
    }
  });

  test("has the sizes and times of the routes, and the pace of messages", () => {
    const { page_size } = propertiesOf(listResidents.body);
    const { message } = propertiesOf(sendMessage.body);
    expect(guide).toContain(`| \`page_size\` | ${page_size?.maximum} |`);
    expect(guide).toContain(`| ${show(message?.maxLength ?? 0)} `);
    expect(guide).toContain(` ${lifetimeSeconds} `);
    for (const { timeoutSeconds } of [listResidents, sendMessage, sendFile])
      expect(guide).toMatch(new RegExp(` ${timeoutSeconds}\\b`));
    for (const value of [
      carefulPace.perMinute,
      carefulPace.perHour,
      carefulPace.perDay,
      carefulPace.newContactsPerDay,
    ])
      expect(guide).toContain(`| ${show(value)} |`);
  });
});

/** Database, connections and the concurrency that its functions share. */
const stages = [
  [94, 300],
  [188, 300],
  [376, 100],
  [1_504, 300],
] as const;

test.each(languages)("the guide to growing has the capacity of each database, in %s", (language) => {
  const guide = readGuideText(language, "growing");
  for (const [connections, functionConcurrency] of stages) {
    const capacity = planCapacity({ connections, functionConcurrency });
    const { burst, requestsPerSecond } = capacity.throttleOf(listResidents, integrationApi);
    const numbers = [connections, capacity.reserved.get(listResidents.fn) ?? 0, burst, requestsPerSecond];
    expect(guide).toContain(` | ${numbers.map((value) => value.toLocaleString(language)).join(" | ")} |`);
  }
});

test.each(languages)("the newest version in the list of changes is the product's, in %s", (language) => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const [, newest] = /\| --- \| --- \|\n\| (\S+) \|/.exec(readGuideText(language, "versions")) ?? [];
  expect(newest).toBe(version);
});
