import { listSteps } from "#lib/maintenance/maintain.ts";
import type { Ground, Measurable } from "./groups.ts";
import { rowOf, watch } from "./measure.ts";

/** As `npm run city -- audit verify` asks; the command cannot be called, and has no other statement. */
const sealsPerQuery = 50;

/** The batches of the maintenance, which has 20 s for each. */
export async function* maintenanceCases({ owner, sql }: Ground): AsyncGenerator<Measurable> {
  // as an import leaves them
  await owner`update resident.resident set name = name || ' A' where id % 200 = 7`;
  for (const { name, work } of await listSteps(sql))
    yield async ({ samples }) => {
      const { watched, rows } = watch(sql);
      for (let turn = 0, more = true; turn < Math.max(2, samples / 10); turn++) {
        if (!more && turn > 5) break;
        ({ more } = await work(watched));
      }
      return rows(`maintenance ${name}`);
    };
  yield async () => {
    const times: number[] = [];
    for (let after = 0, found = sealsPerQuery; found === sealsPerQuery && times.length < 5; ) {
      const started = performance.now();
      const verdicts = await sql<{ id: number; problem: string | null }[]>`
        select id::int, problem from audit.verify_seals(${after}::bigint, ${sealsPerQuery})`;
      times.push(performance.now() - started);
      const wrong = verdicts.find(({ problem }) => problem !== null);
      if (wrong) throw new Error(`seal ${wrong.id}: ${wrong.problem}`);
      after = verdicts.at(-1)?.id ?? after;
      found = verdicts.length;
    }
    return rowOf("maintenance: verify_seals, 50 seals", times);
  };
}
