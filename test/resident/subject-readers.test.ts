import type postgres from "postgres";
import { expect, test } from "vitest";
import { recountBlocks } from "#lib/resident/recount.ts";
import { type Act, eraseSubject, restrictSubject } from "#lib/resident/subject.ts";
import { addReader, liftGuessLimits } from "../steps/residents/reader.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { createDatabase } from "../steps/temporary-database.ts";

const residents = 250;
const nik = "9900000000000249";
const digest = Buffer.alloc(32, 1);
const act: Act = {
  ...{ nik, nikDigest: digest, pepperVersion: 1, operator: "Rina", reason: "test", caseReference: null },
  requestId: "r",
};

/** What one snapshot shows of the resident: in total, on the page of the list, in a search, in a verification. */
const look = (sql: postgres.Sql) =>
  sql.begin("isolation level repeatable read", async (snapshot) => {
    const [list] = await snapshot<{ total: number; shown: boolean }[]>`
      select total::int, residents::text like ${`%${nik}%`} as shown from resident.list(1, 5, 'p', 'k', 'r')`;
    const [search] = await snapshot<{ total: number }[]>`
      select total::int from resident.search(${nik}, null, 1, 5, 'p', 'k', 'r', ${digest}, null, 1)`;
    const [claim] = await snapshot<{ answer: boolean }[]>`
      select (resident.verify(${nik}, '{"name": "Siti 249"}', 'p', 'k', 'r', ${digest}, 1) ->> 'name')::boolean as answer`;
    return [list?.total === residents, list?.shown, search?.total === 1, claim?.answer];
  });

test("a resident who is restricted, shown again and erased leaves and enters total, list, search and verification at once", async () => {
  const database = await createDatabase();
  const admin = database.connect("adminUrl");
  await insertSeries(admin, 0, residents, "timestamp '2020-01-01' + i * interval '1 s'");
  await addReader(admin);
  // so that readers may go on
  await liftGuessLimits(admin);
  const subject = database.connect("subjectUrl");
  let isOver = false;
  let looks = 0;
  const seen = new Set<string>();
  const read = async (sql: postgres.Sql) => {
    while (!isOver) {
      const found = await look(sql).catch((error: { code?: string }) => {
        // two snapshots that count the same miss
        if (error.code === "40001") return undefined;
        throw error;
      });
      if (!found) continue;
      expect(new Set(found).size, String(found)).toBe(1);
      seen.add(String(found[0]));
      looks += 1;
    }
  };
  const until = (count: number) => expect.poll(() => looks, { timeout: 60_000 }).toBeGreaterThan(count);
  const change = async () => {
    for (let round = 0; round < 8; round += 1)
      for (const isLifted of [false, true]) {
        await restrictSubject(subject, act, isLifted);
        await until(looks + 3);
      }
    await eraseSubject(subject, act, false);
    await until(looks + 3);
  };
  const readers = Array.from({ length: 4 }, () => read(database.connect("adminUrl")));
  await Promise.race([change(), ...readers]).finally(() => {
    isOver = true;
  });
  await Promise.all(readers);

  expect(seen).toEqual(new Set(["true", "false"]));
  expect(await look(admin)).toEqual([false, false, false, false]);
  expect(await recountBlocks(admin)).toEqual([]);
}, 120_000);
