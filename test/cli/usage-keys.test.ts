import { beforeEach, expect, test } from "vitest";
import { type PartnerPlan, partnerDirectory } from "#lib/partner/partner-keys.ts";
import { callCommand } from "../steps/command.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";
import { startUsagePlans, type UsagePlans } from "./usage-plans.ts";

const [standard, trial, portal, others] = [
  "municipal-test-standard",
  "municipal-test-trial",
  "municipal-test-portal",
  "municipal-prod-standard",
];

let database: TemporaryDatabase;
let gateway: UsagePlans;

beforeEach(async () => {
  database = await createDatabase();
  gateway = await startUsagePlans("some-other-plan", others, portal, trial, standard);
});

const run = (settings: Record<string, string>, ...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/partner.ts"),
    {
      ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
      ...{ AWS_ENDPOINT_URL_API_GATEWAY: gateway.url, AWS_MAX_ATTEMPTS: "1" },
      ...settings,
    },
    ...args,
  );
const partner = (...args: string[]) =>
  run({ DATABASE_URL: database.urlFor("partnerAdminUrl") }, ...args, "--stage", "test");

const directory = () => partnerDirectory(database.connect("partnerAdminUrl"));
const planOf = async (partnerId: string): Promise<PartnerPlan | undefined> =>
  (await directory().listPlans()).find((known) => known.partnerId === partnerId);
const keyOf = (partnerId: string) =>
  gateway.keys.find(({ name }) => name === `municipal/test/partner/${partnerId}`);
/** The plans in which API Gateway counts a partner. */
const countedBy = (partnerId: string) =>
  [...gateway.plans].filter(([, keys]) => keys.includes(keyOf(partnerId)?.id ?? "")).map(([name]) => name);
const keyIn = (out: string) => /^mia_\S+$/m.exec(out)?.[0] ?? "";

test("a new partner is counted by the identifier from the authorizer, never by its key", async () => {
  const { out } = await partner("add", "agency", "--plan", "trial");
  expect(countedBy("agency")).toEqual([trial]);
  const { usageIdentifier } = (await planOf("agency")) ?? {};
  expect(keyOf("agency")).toMatchObject({ value: usageIdentifier, enabled: true });
  expect(JSON.stringify(gateway.keys)).not.toContain(keyIn(out));
  expect(out).toContain("agency: added to the usage plan trial");
  // the identifier is as good as a key where a gateway reads keys from requests
  expect(out).not.toContain(usageIdentifier);
});

test("a rotated key changes nothing in API Gateway; another plan moves the partner", async () => {
  await partner("add", "agency");
  const held = { ...keyOf("agency") };
  gateway.changes.length = 0;
  await partner("rotate", "agency");
  expect(gateway.changes).toEqual([]);
  await partner("rotate", "agency", "--plan", "trial");
  expect([countedBy("agency"), keyOf("agency")]).toEqual([[trial], held]);
});

test("a partner is counted only while one of its keys is active", async () => {
  const first = /key_\w+/.exec((await partner("add", "agency")).out)?.[0] ?? "";
  await partner("rotate", "agency");
  await partner("revoke", first);
  expect(countedBy("agency")).toEqual([standard]);
  const { out } = await partner("revoke", "agency");
  expect([keyOf("agency"), out]).toEqual([
    undefined,
    expect.stringContaining("agency: removed from its usage plan"),
  ]);
  await partner("add", "agency");
  expect(countedBy("agency")).toEqual([standard]);
});

test("the key is shown even when API Gateway fails, and sync completes the change", async () => {
  gateway.fail("POST /usageplans/*/keys", "AccessDeniedException");
  const { status, out, errors } = await partner("add", "agency");
  expect(keyIn(out)).not.toBe("");
  expect([status, countedBy("agency")]).toEqual([1, []]);
  expect(errors).toMatch(
    /not updated: AccessDeniedException.*The database change was kept.*sync --stage test/s,
  );
  expect((await partner("sync")).out).toContain("agency: added to the usage plan standard");
  expect(countedBy("agency")).toEqual([standard]);
});

test("sync corrects manual changes and expired keys on all pages, and then changes nothing", async () => {
  const names = ["one", "two", "three", "four", "five"];
  for (const name of names) await directory().add(name, "standard", { scopes: ["resident:read"] });
  const soon = await directory().add("over", "trial", { scopes: ["resident:read"] });
  await partner("sync");
  expect(names.map(countedBy)).toEqual(names.map(() => [standard]));

  const held = (name: string) => keyOf(name) ?? expect.fail(`no key of ${name}`);
  held("one").enabled = false;
  gateway.plans.get(standard)?.splice(0);
  gateway.plans.get(trial)?.push(held("two").id);
  gateway.keys.splice(gateway.keys.indexOf(held("three")), 1);
  await database.connect("adminUrl")`
    update partner.api_key set expires_at = now() - interval '1 second' where id = ${soon.keyId}`;

  expect((await partner("sync")).status).toBe(0);
  expect(names.map(countedBy)).toEqual(names.map(() => [standard]));
  expect([held("one").enabled, keyOf("over")]).toEqual([true, undefined]);
  gateway.changes.length = 0;
  expect((await partner("sync")).out).toContain("match the database");
  expect(gateway.changes).toEqual([]);
});

test("two concurrent operators reach the same result", async () => {
  await directory().add("agency", "standard", { scopes: ["resident:read"] });
  const { usageIdentifier = "" } = (await planOf("agency")) ?? {};
  const name = "municipal/test/partner/agency";
  const otherOperator = () => gateway.keys.push({ id: "k", name, value: usageIdentifier, enabled: true });
  gateway.fail("POST /apikeys", "ConflictException", otherOperator);
  expect((await partner("sync")).status).toBe(0);
  expect([gateway.keys.length, countedBy("agency")]).toEqual([1, [standard]]);
});

test("the database of another stage is detected before a key is removed, unless forced", async () => {
  gateway.keys.push(
    { id: "a", name: "municipal/test/partner/agency", value: "of another database", enabled: true },
    { id: "b", name: "municipal/prod/partner/agency", value: "of another stage", enabled: true },
  );
  await directory().add("mine", "standard", { scopes: ["resident:read"] });
  const { status, errors } = await partner("sync");
  expect([status, gateway.changes]).toEqual([1, []]);
  expect(errors).toMatch(
    /not in this database: municipal\/test\/partner\/agency\. Check that this is the database of test\./,
  );

  await partner("sync", "--force");
  expect(gateway.keys.map(({ name }) => name).toSorted()).toEqual([
    "municipal/prod/partner/agency",
    "municipal/test/partner/mine",
  ]);
});

test("a stage that is not deployed is detected before the database changes", async () => {
  gateway.plans.delete(trial);
  const { status, errors } = await partner("add", "agency");
  expect([status, await planOf("agency")]).toEqual([1, undefined]);
  expect(errors).toContain("Deploy the stage first, or check AWS_REGION");
});

test("the error names a plan that the stage no longer has", async () => {
  await directory().add("agency", "gold", { scopes: ["resident:read"] });
  const { errors } = await partner("sync");
  expect(errors).toContain("lacks the plan of agency (gold). Choose one of portal, trial, standard");
});
