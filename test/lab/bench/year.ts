import { printTable, type Result } from "./result.ts";
import { addAudit } from "./year/audit-data.ts";
import { createShare } from "./year/chance.ts";
import { withYearDatabase, type YearDatabase } from "./year/database.ts";
import { addEmployees } from "./year/employee-data.ts";
import { groups } from "./year/groups.ts";
import type { Row } from "./year/measure.ts";
import { addMessenger } from "./year/message-data.ts";
import { addNotifications } from "./year/notification-data.ts";
import { addResidents } from "./year/resident-data.ts";
import { partsOf, type Sizes } from "./year/sizes.ts";
import { limitMs } from "./year/slow-by-design.ts";

const onStep = (step: string) => console.error(`${step} …`);

/** Fills the database as it is after a year. @returns how long the seals of its audit took. */
export const addYear = async (
  { owner, connectAs }: Pick<YearDatabase, "owner" | "connectAs">,
  sizes: Sizes,
): Promise<readonly Row[]> => {
  const parts = partsOf(sizes);
  await createShare(owner, sizes.seed);
  await addResidents(owner, sizes, parts, onStep);
  onStep(`${sizes.audits} reads in the audit`);
  const rows = await addAudit(owner, connectAs("maintenance"), sizes);
  await addEmployees(owner, parts);
  await addNotifications(owner, parts);
  await addMessenger(owner, sizes, parts, onStep);
  await owner`checkpoint`;
  return rows;
};

/**
 * Measures each statement that a request or a loop of the product runs, on a database as it is after a year: called by the product's own
 * functions, with the role and in a process as those have, one caller at a time.
 *
 * @param options sizes, and how often each statement runs; what changes many rows runs less often.
 */
export const benchYear = ({ samples, ...sizes }: Sizes & { readonly samples: number }): Promise<Result> =>
  withYearDatabase(async (database) => {
    const rows: Row[] = [...(await addYear(database, sizes))];
    for (const [group, one] of Object.entries(groups)) {
      onStep(`statements: ${group}`);
      rows.push(...(await database.measure(one, { group, sizes, samples })));
    }
    const slow = rows.filter((row) => row["p99 ms"] > limitMs);
    const unexplained = slow.filter((row) => row["slow by design"] === "");
    const busy = unexplained.filter((row) => Number(row["CPU p99 ms"]) > limitMs);
    printTable(rows.toSorted((a, b) => b["p99 ms"] - a["p99 ms"]).map(({ spread, ...row }) => row));
    console.error(
      `${rows.length} statements; ${slow.length} with a p99 over ${limitMs} ms, ${unexplained.length} of them not by design, ` +
        `${busy.length} of these also of processor time`,
    );
    const { residents, messages, audits } = sizes;
    const counted = { slow: slow.length, unexplained: unexplained.length, busy: busy.length };
    return { bench: `year-${messages}`, figures: { residents, messages, audits, samples, ...counted, rows } };
  });
