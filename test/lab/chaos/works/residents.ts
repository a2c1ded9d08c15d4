import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { recountBlocks } from "#lib/resident/recount.ts";
import { inventResident } from "../../../../infra/local/seed/resident-rows.ts";
import { startCommand } from "../../../steps/command.ts";
import { startFunction } from "../../../steps/function.ts";
import { residentCsv } from "../../../steps/residents/resident-csv.ts";
import type { Work } from "../functions.ts";
import { answerOf, asAdmin, callEndpoint, type Stage, urlOf } from "./stage.ts";

const rowsPerFile = 40;

const findMiscounts = async (stage: Stage): Promise<string[]> =>
  (await asAdmin(stage, (sql) => recountBlocks(sql))).map((miscount) => JSON.stringify(miscount));

export const importing = (stage: Stage): Work => {
  const file = join(stage.folder, "residents.csv");
  let made = 1_000_000;
  let before = 0;
  const run = () => startCommand("import", { DATABASE_URL: urlOf(stage, "importer") }, "residents", file);
  const count = () =>
    asAdmin(stage, async (sql) => {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from resident.resident`;
      return row?.count ?? 0;
    });
  return {
    async prepare() {
      before = await count();
      // so that each import ends with the same: strings are chosen anew when many residents came
      await asAdmin(stage, (sql) => sql`update resident.substring_generation set row_count = 0`);
      made += rowsPerFile;
      const rows = Array.from({ length: rowsPerFile }, (_, n) => inventResident(made + n));
      writeFileSync(file, residentCsv(rows));
    },
    start: run,
    async again() {
      const { status, errors } = await run().ended;
      const stored = (await count()) - before;
      const isComplete = status === 0 && stored === rowsPerFile;
      return [
        ...(isComplete ? [] : [`completed with ${status}, ${stored} rows: ${errors}`]),
        ...(await findMiscounts(stage)),
      ];
    },
  };
};

export const maintenance = (stage: Stage): Work => {
  const { city } = stage;
  return {
    async prepare() {
      const headers = { apikey: city.apiKey, "content-type": "application/json" };
      const response = await fetch(`${city.baseUrl}/v1/penduduk`, { method: "POST", headers, body: "{}" });
      if (response.status !== 200) throw new Error(`the residents: ${response.status}`);
      await asAdmin(stage, (sql) => sql`update resident.resident set name = name || ' A' where id % 5 = 0`);
    },
    start: () => startFunction(city, "maintain", {}),
    async again() {
      const { code, lines } = await startFunction(city, "maintain", {}).ended;
      const settings = { DATABASE_URL: urlOf(stage, "maintenance") };
      const audit = await startCommand("audit", settings, "verify").ended;
      return [
        ...(code === 0 ? [] : [lines.join("; ")]),
        ...(await findMiscounts(stage)),
        ...(audit.status === 0 ? [] : [audit.out, audit.errors]),
      ];
    },
  };
};

export const search = (stage: Stage): Work => {
  const ask = () =>
    callEndpoint(stage, "resident/search", {
      contentType: "application/json",
      body: JSON.stringify({ p_nama: "a" }),
      authorizer: { partner_id: "killed", key_id: "killed", scopes: "resident:read" },
    });
  const countRows = () =>
    asAdmin(stage, async (sql) => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from audit.resident_read where partner_id = 'killed'`;
      return row?.count ?? 0;
    });
  let before = 0;
  let killed: ReturnType<typeof ask> | undefined;
  return {
    async prepare() {
      before = await countRows();
    },
    start() {
      killed = ask();
      return killed;
    },
    async again() {
      const rows = (await countRows()) - before;
      const answered = killed && (await answerOf(killed)).status === 200;
      const next = await answerOf(ask());
      const added = (await countRows()) - before - rows;
      return [
        ...(rows > 1 || (answered && rows === 0) ? [`${rows} rows in the audit, answered: ${answered}`] : []),
        ...(next.status === 200 && next.json.total > 0 ? [] : [`the next one: ${next.status}`]),
        ...(added === 1 ? [] : [`the next one has ${added} rows in the audit`]),
      ];
    },
  };
};
