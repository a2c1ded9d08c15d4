/** Of the city whose two years are added up. What is by day happens in ten hours. */
export const city = { messagesPerDay: 50_000, viewsPerDay: 200_000, recipients: 500_000, days: 730 };
/** PostgreSQL makes a checkpoint every five minutes, and maintenance a seal. */
export const fiveMinutes = { ofOffice: 120, ofDay: 288 };

/** What the city does again and again. */
export interface Kind {
  readonly name: string;
  /** In the city's two years. */
  readonly times: number;
  /** Between two checkpoints, at most. */
  readonly perCheckpoint: number;
  /** @returns how often it was done. */
  readonly run: () => Promise<number>;
  readonly turns: number;
  /** Tables that have a row for each, and for how many days. */
  readonly kept: Readonly<Record<string, number>>;
}

export interface Cost {
  /** That stay, by table with its indexes and what is stored outside its rows. */
  readonly bytes: Readonly<Record<string, number>>;
  readonly wal: number;
  /** Of the vacuum that follows, of what has changed by all. */
  readonly vacuumWal: number;
}

const gb = (bytes: number): number => Number((bytes / 1e9).toFixed(1));
const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

export type Costs = Readonly<Record<"paged" | "bare", readonly Cost[]>>;

/** The bytes that stay in each table: the mean of all that add a row to it, as an index grows by leaps when many of its pages are full. */
const bytesOf = (kinds: readonly Kind[], { paged, bare }: Costs, { kept }: Kind) =>
  Object.entries(kept).map(([table, days]) => {
    const all = kinds.flatMap((kind, place) =>
      table in kind.kept ? [paged, bare].map((costs) => costs[place]?.bytes[table] ?? 0) : [],
    );
    return { table, days, bytes: sum(all) / all.length };
  });

/** What each costs: with changes alone in the log, and with pages. */
export const costsOf = (kinds: readonly Kind[], costs: Costs) => {
  const rows = kinds.map((kind, place) => {
    const { name, times } = kind;
    const [one, full] = [costs.bare[place], costs.paged[place]];
    if (!one || !full) throw new Error(`${name} was not measured`);
    const [wal, pagedWal] = [one.wal + one.vacuumWal, full.wal + full.vacuumWal];
    return {
      ...{
        each: `\`${name}\``,
        bytes: Math.round(sum(bytesOf(kinds, costs, kind).map(({ bytes }) => bytes))),
      },
      ...{ "WAL bytes": Math.round(wal), "with pages": Math.round(pagedWal) },
      ...{ "in two years": times, "WAL GB": gb(times * wal), "WAL GB with pages": gb(times * pagedWal) },
      detail: { bare: one, paged: full },
    };
  });
  const all = (column: "WAL GB" | "WAL GB with pages") =>
    Number(sum(rows.map((row) => row[column])).toFixed(1));
  const blank = { bytes: "", "WAL bytes": "", "with pages": "", "in two years": "" };
  const ends = { "WAL GB": all("WAL GB"), "WAL GB with pages": all("WAL GB with pages") };
  return [...rows, { each: "`all`", ...blank, ...ends, detail: {} }];
};

/** What is stored after two years. */
export const storedOf = (kinds: readonly Kind[], costs: Costs) => {
  const rows = kinds.flatMap((kind) =>
    bytesOf(kinds, costs, kind).map(({ table, bytes, days }) => {
      const stay = Math.round((kind.times / city.days) * days);
      return {
        ...{ table: `\`${table}\``, each: `\`${kind.name}\``, bytes: Math.round(bytes) },
        ...{ "days kept": Number(days.toFixed(1)), times: stay, GB: gb(stay * bytes) },
      };
    }),
  );
  const all = Number(sum(rows.map((row) => row.GB)).toFixed(1));
  return [...rows, { table: "`all`", each: "", bytes: "", "days kept": "", times: "", GB: all }];
};
