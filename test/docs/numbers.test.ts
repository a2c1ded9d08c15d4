import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { findSetting } from "#lib/config.ts";
import { lifetimeSeconds } from "#lib/employee/access-token.ts";
import { defaultMaxBytes } from "#lib/http/body.ts";
import { maxUploadBytes } from "#lib/http/multipart.ts";
import { maxPixels } from "#lib/messaging/image-type.ts";
import { maxPlanned, Submission, waitReasons } from "#lib/messaging/submission.ts";
import { maxFileBytes, maxImageBytes } from "#lib/messenger/accept/source.ts";
import { maxBytesOfSender } from "#lib/messenger/outbox/media.ts";
import { carefulPace } from "#lib/messenger/send/pace.ts";
import { languages } from "#lib/openapi/words.ts";
import { sendFile, sendImage, sendMessage } from "#lib/routes/messaging.ts";
import { listResidents, searchResidents } from "#lib/routes/resident.ts";
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

const readSql = (name: string) => readFileSync(`lib/db/${name}.sql`, "utf8");
const attempts = readSql("functions/employee/attempt");

describe.each(languages)("the guide to limits in %s", (language) => {
  // a paragraph may break anywhere
  const guide = readGuideText(language, "limits").replace(/\s+/g, " ");
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
    const { page_size } = propertiesOf(searchResidents.body);
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
      maxPlanned,
    ])
      expect(guide).toContain(`| ${show(value)} |`);
  });

  test("has the sizes of bodies, texts and media", () => {
    const row = (what: RegExp, value: string) =>
      new RegExp(`\\| [^|]*${what.source}[^|]*\\| [^|]*${value}\\b`);
    const { caption } = propertiesOf(sendImage.body);
    const mebibyte = 1_024 * 1_024;
    for (const size of [
      row(/`\/v1`/, `${defaultMaxBytes / 1_024} KiB`),
      row(/caption/, show(caption?.maxLength ?? 0)),
      row(/(uploaded|diunggah)/, `${maxUploadBytes / mebibyte} MiB`),
      row(/(an image|gambar) (by|lewat) URL/, `${maxImageBytes / mebibyte} MiB`),
      row(/(a file|berkas) (by|lewat) URL/, `${maxFileBytes / mebibyte} MiB`),
      row(/(an image|gambar)/, `${maxPixels / 1_000_000} (megapixels|megapiksel)`),
    ])
      expect(guide).toMatch(size);
  });

  test("has the limits of failed logins, in order", () => {
    const limits = [...attempts.matchAll(/interval '(\d+) \w+', (\d+)\)/g)];
    const numbers = limits.flatMap(([, span = "", failures = ""]) => [failures, span === "1" ? ".*" : span]);
    expect(limits).toHaveLength(3);
    expect(guide).toMatch(new RegExp(`- ${numbers.join("\\b.*\\b")}`));
  });

  test("has the waiting messages, their expiry and their media, and the searches for numbers that nobody has", () => {
    const { expires_in_seconds: expiry } = propertiesOf(Submission);
    expect(guide).toMatch(new RegExp(`${(expiry?.maximum ?? 0) / 3_600} (hours|jam) \\|`));
    expect(guide).toContain(`| ${show(Number(findSetting("MESSENGER_MAX_WAITING")))} |`);
    expect(guide).toContain(`| ${maxBytesOfSender / 1_024 ** 3} GiB |`);
    const [, most] =
      /daily_unknown_numbers\(\).*return (\d+);/.exec(readSql("functions/resident/quota")) ?? [];
    expect(guide).toContain(` ${most} `);
    const agreed = [...readSql("tables/0003.do.partner").matchAll(/_per_\w+ integer default (\d+)/g)];
    expect(agreed).toHaveLength(2);
    for (const [, number] of agreed) expect(guide).toContain(` | ${show(Number(number))} | `);
    const [, ...limits] =
      /failed_verification_limits[^;]*select (\d+), (\d+);/.exec(
        readSql("functions/resident/verification"),
      ) ?? [];
    expect(limits).toHaveLength(2);
    const [number = "", partner = ""] = limits.map((limit) => show(Number(limit)));
    expect(guide).toMatch(new RegExp(` ${number} verif.* ${partner} \\w+ (one|satu) (partner|mitra), `));
  });
});

test.each(languages)(
  "the guide to sending in %s has what messages wait for, the first reason first",
  (language) => {
    const rows = readGuideText(language, "sending").matchAll(/^\| `(\w+)` \|/gm);
    expect([...rows].map(([, name]) => name)).toEqual(["waiting_for", ...waitReasons]);
  },
);

/** Connections, the concurrency that the functions share, and messengers. */
const stages = [
  [94, 100, 1],
  [94, 300, 2],
  [188, 300, 2],
  [376, 100, 1],
  [1_504, 300, 2],
] as const;

test.each(languages)("the guide to growing has the capacity of each database, in %s", (language) => {
  const guide = readGuideText(language, "growing");
  for (const [connections, functionConcurrency, messengerTasks] of stages) {
    const capacity = planCapacity({ connections, functionConcurrency, messengerTasks });
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
