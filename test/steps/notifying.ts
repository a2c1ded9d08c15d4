import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type postgres from "postgres";
import { internalFunctions } from "#lib/routes/internal.ts";
import type { City } from "../../infra/local/city.ts";

const source = fileURLToPath(new URL("../notification/notify-process.ts", import.meta.url));

/** Duration and memory of a completed run of the function. */
export interface Figures {
  readonly milliseconds: number;
  readonly peakMegabytes: number;
}

/** The function `notify` of a city in a separate process, which can be killed. */
export const startNotify = (city: City, event: unknown) => {
  const row = internalFunctions.find(({ fn }) => fn === "notify");
  if (!row) throw new Error("there is no function notify");
  const child = spawn(process.execPath, [source, JSON.stringify(event)], {
    env: city.variables(row),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => lines.push(line));
  const ended = once(child, "close").then(([code]) => ({
    /** Null when it was killed. */
    code: code as number | null,
    lines,
    figures: code === 0 ? (JSON.parse(lines.at(-1) ?? "{}") as Figures) : undefined,
  }));
  return { ended, kill: () => child.kill("SIGKILL") };
};

/** The current time as schedules write it. */
export const scheduledNow = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");

/**
 * Puts a table in the place of a view, so that a test says what an audience shows.
 *
 * @param sql an administrator's connection.
 */
export const playAudience = async (sql: postgres.Sql, view: string): Promise<void> => {
  await sql
    .unsafe(
      `set role municipal_owner;
       create table if not exists office.played (dedupe_key text, phone text, values jsonb);
       truncate office.played;
       create or replace view audience.${view} with (security_barrier) as select dedupe_key, phone, values from office.played;
       reset role`,
    )
    .simple();
};

/** Recipients of the test audience, by default with a valid number and all values. */
export const showRecipients = async (
  sql: postgres.Sql,
  count: number,
  more: (
    row: number,
  ) => Partial<{ dedupe_key: string | null; phone: string | null; values: unknown }> = () => ({}),
): Promise<void> => {
  const rows = Array.from({ length: count }, (_, row) => ({
    dedupe_key: `R${String(row).padStart(5, "0")}`,
    phone: `62811${String(1_000_000 + row)}`,
    values: { name: `Warga ${row}`, service: "KTP", place: "Loket 1", date: "2030-01-02", time: "09:30" },
    ...more(row),
  }));
  await sql`
    insert into office.played select * from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as g (dedupe_key text, phone text, values jsonb)`;
};
