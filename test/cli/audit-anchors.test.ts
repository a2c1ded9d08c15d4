import { text } from "node:stream/consumers";
import type postgres from "postgres";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { keyOf } from "#lib/maintenance/anchor.ts";
import { auditYears, sealReads } from "#lib/maintenance/audit.ts";
import { type Bucket, type BucketFailureMode, startBucket } from "../../infra/local/s3/bucket.ts";
import { callCommand } from "../steps/command.ts";
import { serve } from "../steps/http-server.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";
import { describeStack } from "./stack.ts";

let database: TemporaryDatabase;
let owner: postgres.Sql;
let maintenance: postgres.Sql;
let bucket: Bucket;

beforeEach(async () => {
  database = await createDatabase();
  owner = database.connect("adminUrl");
  maintenance = database.connect("maintenanceUrl");
  bucket = await startBucket();
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await bucket.stop();
  });
});

/** The modules of the function, in its environment. */
const importFunction = async (settings: Readonly<Record<string, string>> = {}) => {
  const all = { ...bucket.settings, AUDIT_ANCHORS_URL: bucket.url, ...settings };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  vi.resetModules();
  const [{ anchorSeals }, { storeAnchor }] = await Promise.all([
    import("#lib/maintenance/audit.ts"),
    import("#lib/maintenance/anchor.ts"),
  ]);
  return { anchorSeals, storeAnchor };
};
const anchorSeals = async (sql: postgres.Sql) => (await importFunction()).anchorSeals(sql);

const read = (count: number) =>
  owner`select (resident.list(1, 10, 'p', 'k', 'request ' || n)).total from generate_series(1, ${count}) n`;

/** Three seals of ten, five and two rows, with their anchors. */
const sealThree = async () => {
  for (const count of [10, 5, 2]) {
    await read(count);
    await sealReads(maintenance, 1);
  }
  await anchorSeals(maintenance);
};

const later = 120_000;
const meanwhile = "meanwhile";

/** Two minutes after everything that has been stored, unless it is meanwhile. */
const verifyWith = (settings: Record<string, string>, ...args: string[]) => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + (args.includes(meanwhile) ? 0 : later) });
  return callCommand(
    () => import("../../infra/cli/audit.ts"),
    { DATABASE_URL: database.urlFor("maintenanceUrl"), ...bucket.settings, ...settings },
    ...["verify", ...args.filter((arg) => arg !== meanwhile)],
  ).finally(() => vi.useRealTimers());
};
const verify = (...args: string[]) => verifyWith({}, "--bucket", bucket.name, ...args);
const problems = async (...args: string[]) => {
  const { status, errors } = await verify(...args);
  expect(status).toBe(errors === "" ? 0 : 1);
  return errors.split("\n").filter((line) => line.startsWith("seal "));
};

/** As somebody who may do everything in the database: recomputes every seal from the rows that there are now. */
const recomputeSeals = async () => {
  await owner.unsafe("grant municipal_owner to current_user");
  for (const { id } of await owner`select id from audit.seal order by id`) {
    await owner`update audit.seal s set (row_count, rows_digest) =
      (select d.row_count, d.rows_digest from audit.digest_rows(s.first_id, s.last_id, s.format) d) where id = ${id}`;
    await owner`update audit.seal s set digest =
      audit.digest_seal((select p.digest from audit.seal p where p.id = s.id - 1), s) where id = ${id}`;
  }
};

test("accepts seals with their anchors, of which one that is new may be missing", async () => {
  await sealThree();
  await read(3);
  await sealReads(maintenance, 1);
  expect(await verify()).toMatchObject({
    status: 0,
    out: "All 4 seals are valid, 3 of them by their anchors. Nothing to do.\n",
  });
});

test("accepts the anchor of a seal that was made while it read the database", async () => {
  await sealThree();
  const { storeAnchor } = await importFunction();
  await storeAnchor({ seal: "4", digest: "ab".repeat(32) });
  expect(await problems(meanwhile)).toEqual([]);
  expect(await problems()).toEqual(["seal 4: it is missing"]);
});

describe("by the anchors alone", () => {
  test("finds a row that was rewritten together with all seals", async () => {
    await sealThree();
    await owner`update audit.resident_read set partner_id = 'somebody-else' where id = 12`;
    await recomputeSeals();
    expect((await verifyWith({})).status).toBe(0);
    expect(await problems()).toEqual([
      expect.stringMatching(/^seal 2: its digest differs from its anchor of \d{4}-\d\d-\d\dT[\d:]{8}Z$/),
      expect.stringMatching(/^seal 3: its digest differs/),
    ]);
  });

  test("finds seals that were removed at the end", async () => {
    await sealThree();
    await owner
      .unsafe("delete from audit.seal where id = 3; delete from audit.resident_read where id > 15")
      .simple();
    expect((await verifyWith({})).status).toBe(0);
    expect(await problems()).toEqual(["seal 3: it is missing"]);
  });

  test("finds a seal that pretends to have an anchor, or that it is about to come", async () => {
    await sealThree();
    await read(4);
    await sealReads(maintenance, 1);
    await owner`update audit.seal set anchored_at = now() where id = 4`;
    expect(await problems()).toEqual(["seal 4: it has no anchor"]);
    await owner`update audit.seal set anchored_at = null, sealed_at = now() - interval '61 minutes' where id = 4`;
    await recomputeSeals();
    expect(await problems()).toEqual(["seal 4: it has no anchor"]);
  });

  test("finds that a seal was rewritten and anchored again: the first anchor is the true one", async () => {
    await sealThree();
    await owner`update audit.resident_read set partner_id = 'somebody-else' where id = 17`;
    await recomputeSeals();
    await owner`update audit.seal set anchored_at = null`;
    await anchorSeals(maintenance);
    expect(await problems()).toEqual([
      expect.stringMatching(/^seal 3: its digest differs from its anchor of /),
      expect.stringMatching(/^seal 3: an anchor was added /),
    ]);
  });

  test("finds an anchor that was hidden or written a second time, which changes nothing", async () => {
    await sealThree();
    const { S3Client, DeleteObjectCommand, PutObjectCommand } = await import("@aws-sdk/client-s3");
    const client = new S3Client({});
    const [{ seal, digest }] = (await maintenance`
      select id::text as seal, digest from audit.verify_seals(1, 1)`) as unknown as [
      { seal: string; digest: string },
    ];
    const object = { Bucket: bucket.name, Key: keyOf({ seal, digest }) };
    await client.send(new PutObjectCommand({ ...object, Body: "other" }));
    await client.send(new DeleteObjectCommand(object));
    const stored = bucket.versions.find(({ key }) => key === object.Key);
    const removal = new DeleteObjectCommand({ ...object, VersionId: stored?.id });
    await expect(client.send(removal)).rejects.toMatchObject({ name: "AccessDenied" });
    expect(await problems()).toEqual([
      expect.stringMatching(/^seal 2: an anchor was added /),
      expect.stringMatching(/^seal 2: an anchor was hidden /),
    ]);
  });
});

test("after a restore, leaves out the seals that were lost with the database, and only these", async () => {
  await sealThree();
  await owner
    .unsafe("delete from audit.seal where id > 1; delete from audit.resident_read where id > 10")
    .simple();
  expect(await problems()).toEqual(["seal 2: it is missing", "seal 3: it is missing"]);
  expect(await problems("--restored", "1")).toEqual([]);
  await read(4);
  await sealReads(maintenance, 1);
  // it still waits for its anchor, and the bucket has one of a lost seal with this number
  expect(await problems("--restored", "1")).toEqual([]);
  await sealThree();
  expect((await problems())[0]).toMatch(/^seal 2: its digest differs/);
  expect((await verify("--restored", "1")).out).toBe(
    "All 5 seals are valid, 5 of them by their anchors. Nothing to do.\n",
  );
  await owner`delete from audit.seal where id = 5`;
  expect(await problems("--restored", "1")).toEqual(["seal 5: it is missing"]);
});

test("reads the bucket of a stage, page by page", async () => {
  await read(101);
  await owner`select audit.find_settled_id()`;
  await maintenance`select audit.seal_reads(101, 1, 1) from generate_series(1, 101)`;
  for (let more = true; more; ) ({ more } = await anchorSeals(maintenance));
  const AWS_ENDPOINT_URL_CLOUDFORMATION = await serve(async (request, response) => {
    const reply = describeStack("municipal-test-data", { AuditAnchors: bucket.name }, await text(request));
    response.writeHead(reply.status, { "content-type": "text/xml" }).end(reply.body);
  });
  const settings = { AWS_ENDPOINT_URL_CLOUDFORMATION };
  expect(await verifyWith(settings, "--stage", "test")).toMatchObject({
    status: 0,
    out: "All 101 seals are valid, 101 of them by their anchors. Nothing to do.\n",
  });
  expect(await verifyWith(settings, "--stage", "other")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("The bucket of stage other cannot be found"),
  });
});

test("says why a bucket cannot be read, and that both ways to name it are one too many", async () => {
  bucket.behave("AccessDenied");
  expect((await verify()).errors).toContain("The bucket audit-anchors cannot be read: AccessDenied");
  expect((await verify("--stage", "test")).errors).toContain("Give either --stage or --bucket");
});

describe("an anchor that cannot be stored", () => {
  const failureModes: readonly [BucketFailureMode, RegExp][] = [
    ["AccessDenied", /rejected seal 1 with status 403/],
    ["SlowDown", /rejected seal 1 with status 503/],
    ["hang", /did not answer for seal 1/],
    ["lost answer", /did not answer for seal 1/],
  ];

  test.each(failureModes)(
    "because of %s fails the step, and is stored by the next run",
    async (failureMode, message) => {
      await read(3);
      await sealReads(maintenance, 1);
      bucket.behave(failureMode);
      await expect(anchorSeals(maintenance)).rejects.toThrow(message);
      expect(
        await maintenance`select seal from (select id as seal from audit.list_unanchored(9)) s`,
      ).toHaveLength(1);
      bucket.behave("well");
      expect(await anchorSeals(maintenance)).toEqual({ rows: 1, more: false });
      expect(await anchorSeals(maintenance)).toEqual({ rows: 0, more: false });
      expect(bucket.versions).toHaveLength(1);
      expect((await verify()).out).toBe(
        "All 1 seals are valid, 1 of them by their anchors. Nothing to do.\n",
      );
    },
  );
});

test("a key is signed, sorted by seal, and says its seal and digest", async () => {
  const digest = "ab".repeat(32);
  const { storeAnchor } = await importFunction();
  for (const seal of ["9", "10"]) await storeAnchor({ seal, digest });
  expect(bucket.versions.map(({ key, body }) => [key, JSON.parse(body)])).toEqual([
    [`seals/000000000009-${digest}`, { seal: "9", digest }],
    [`seals/000000000010-${digest}`, { seal: "10", digest }],
  ]);
});

test("the bucket accepts no anchor whose signature is made with another key", async () => {
  const { storeAnchor } = await importFunction({ AWS_SECRET_ACCESS_KEY: "other" });
  await expect(storeAnchor({ seal: "1", digest: "ab".repeat(32) })).rejects.toThrow("status 403");
});

test("anchors are retained for longer than the rows", async () => {
  const [row] = await owner`select extract(years from audit.age_limit())::int as years`;
  expect(row?.years).toBe(auditYears);
});
