import { expect, test } from "vitest";
import { auditYears } from "#lib/maintenance/audit.ts";
import { synthesizeWith } from "./composed-stage.ts";

const prod = synthesizeWith({ stage: "prod" });
const dev = synthesizeWith({ stage: "dev" });

const bucketOf = (stage: typeof prod) => {
  const [found, ...more] = stage.list("S3::Bucket");
  expect(more).toEqual([]);
  return found?.[1] ?? expect.fail("no bucket");
};

test("in production nobody can change or delete an anchor for longer than the audit is kept", () => {
  const { Properties, DeletionPolicy, UpdateReplacePolicy } = bucketOf(prod);
  expect(Properties.ObjectLockEnabled).toBe(true);
  const { Mode, Days } = Properties.ObjectLockConfiguration.Rule.DefaultRetention;
  expect(Mode).toBe("COMPLIANCE");
  expect(Days).toBeGreaterThan(365.25 * auditYears);
  expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(["RetainExceptOnCreate", "Retain"]);
});

test("a stage without data to keep has no lock, and its bucket is emptied when it is destroyed", () => {
  const { Properties, DeletionPolicy } = bucketOf(dev);
  expect([Properties.ObjectLockEnabled, DeletionPolicy]).toEqual([undefined, "Delete"]);
  expect(dev.all.map(([, { Type }]) => Type)).toContain("Custom::S3AutoDeleteObjects");
});

test.each([
  ["prod", prod],
  ["dev", dev],
])("the bucket of %s has versions, is encrypted and closed to the public, and demands TLS", (_, stage) => {
  const { Properties } = bucketOf(stage);
  expect(Properties.VersioningConfiguration).toEqual({ Status: "Enabled" });
  expect(Properties.BucketEncryption.ServerSideEncryptionConfiguration).toHaveLength(1);
  expect(new Set(Object.values(Properties.PublicAccessBlockConfiguration))).toEqual(new Set([true]));
  const [policy] = stage.list("S3::BucketPolicy");
  expect(JSON.stringify(policy?.[1].Properties.PolicyDocument)).toMatch(
    /"Bool":\{"aws:SecureTransport":"false"\}.*"NumericLessThan":\{"s3:TlsVersion":1.2\}/,
  );
});

test("only maintenance may use the bucket, and only to add objects", () => {
  const users = prod
    .list("IAM::Policy")
    .filter(([, { Properties }]) => JSON.stringify(Properties).includes('"s3:'))
    .map(([id, { Properties }]) => [
      id.replace(/\W|[A-F\d]{8}$/g, ""),
      Properties.PolicyDocument.Statement.filter((one: object) => JSON.stringify(one).includes("s3:")).map(
        ({ Effect, Action, Resource }: { Effect: string; Action: unknown; Resource: unknown }) => [
          Effect,
          Action,
          JSON.stringify(Resource).includes("/seals/*"),
        ],
      ),
    ]);
  expect(users).toEqual([[expect.stringMatching(/^maintain/), [["Allow", "s3:PutObject", true]]]]);
});

test("maintenance reaches the bucket by IPv6, too", () => {
  const maintain = prod.list("Lambda::Function").find(([id]) => id.startsWith("maintain"));
  expect(JSON.stringify(maintain?.[1].Properties.Environment)).toMatch(
    /"AUDIT_ANCHORS_URL":.*DualStackDomainName/,
  );
});
