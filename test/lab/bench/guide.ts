import { readFileSync, writeFileSync } from "node:fs";
import { languages } from "#lib/openapi/words.ts";
import type { Measured as ColdStarts } from "./cold-start-figures.ts";
import { findResult, type Measure } from "./result.ts";
import type { Warm } from "./warm.ts";

type Row = Readonly<Record<string, string | number>>;
type Figures = Readonly<Record<string, unknown>>;

/** Of the bench `accounts`. */
interface AcceptedTexts {
  readonly accepted: Readonly<Record<"alone" | "oneOfAll" | "all", number>>;
  readonly tasks: number;
}

/** A single sample has no spread. */
const spreadOf = ({ median, low, high }: Measure): string =>
  low === high ? median.toFixed(2) : `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

/** As code: it is no word of a language. */
const nameOf = (fn: string): string => `\`${fn}\``;

/** Rows as a bench stores them. */
const rowsAt = (key: string) => (figures: Figures) => (figures[key] ?? []) as readonly Row[];

/** Every measure that a bench stores by its name. */
const measures = (figures: Figures): readonly Row[] =>
  Object.entries(figures).flatMap(([what, value]) =>
    typeof value === "object" && value !== null ? [{ what, measured: spreadOf(value as Measure) }] : [],
  );

const coldStarts = ({ functions }: ColdStarts): readonly Row[] =>
  functions.map(({ function: name, ratio, ms, bundleKb }) => ({
    function: nameOf(name),
    "ours ÷ empty": spreadOf(ratio),
    ms,
    KB: bundleKb,
  }));

const peers = ({ functions, peers: all }: ColdStarts): readonly Row[] =>
  functions.flatMap(({ function: name, ratio }) => {
    const beside = all
      .filter((row) => row.function === name)
      .map(({ peer, share }) => [`${peer} ÷ ours`, (1 / share.median).toFixed(2)]);
    return beside.length > 0
      ? [{ function: nameOf(name), "ours ÷ empty": ratio.median, ...Object.fromEntries(beside) }]
      : [];
  });

const callerWaits = ({ callerWaits: all }: ColdStarts): readonly Row[] =>
  all.map(({ function: name, authorizer, ratio, peers: beside }) => ({
    function: nameOf(name),
    authorizer,
    "ours ÷ empty": ratio.median,
    ...Object.fromEntries(
      Object.entries(beside).map(([peer, value]) => [`${peer} ÷ ours`, value.toFixed(2)]),
    ),
  }));

const warm = ({ functions }: Warm): readonly Row[] =>
  functions.map(({ function: name, pipeline, write, whole }) => ({
    function: nameOf(name),
    "pipeline p50 µs": pipeline?.median ?? "–",
    "p99 µs": pipeline?.p99 ?? "–",
    bytes: pipeline?.bytes ?? "–",
    "log write p50 µs": write.median,
    "whole p50 ms": (whole.median / 1_000).toFixed(2),
    "whole p99 ms": (whole.p99 / 1_000).toFixed(2),
  }));

const warmPeers = ({ functions, peers: all }: Warm): readonly Row[] =>
  functions.flatMap(({ function: name, pipeline }) => {
    const beside = all.filter((row) => row.function === name).map(({ peer, median }) => [peer, median]);
    return pipeline && beside.length > 0
      ? [{ "pipeline p50 µs": nameOf(name), ours: pipeline.median, ...Object.fromEntries(beside) }]
      : [];
  });

/** Texts that are accepted in a second, with one account and with all. */
const acceptance = ({ accepted, tasks }: AcceptedTexts): readonly Row[] => [
  { accounts: 1, tasks: 1, "handed to": 1, "accepted a second": accepted.alone },
  { accounts: 10, tasks, "handed to": 1, "accepted a second": accepted.oneOfAll },
  { accounts: 10, tasks, "handed to": tasks, "accepted a second": accepted.all },
];

/** What callers and operators wait for; the result has all statements. */
const ofYear: readonly string[] = [
  ...["residents: list, first page", "residents: list, last page", "residents: search by number"],
  ...["residents: search, common name «siti»", "residents: search, two common words «siti nur»"],
  ...["residents: search, rare «galih notonegoro»", "residents: search, three letters with a blank «a b»"],
  ...["residents: verify, right name", "portal: who saw me, usual person, after autovacuum"],
  ...["authorizers: partner by key, with its connection", "employees: refresh a session"],
  ...[
    "accept: store one",
    "send: take the next, due messages",
    "messages: cancel one",
    "messages: state of one",
  ],
  ...["messages: all states", "messages: READ", "callbacks: claim eight", "console: the whole page"],
];

const year = ({ rows }: { readonly rows: readonly Row[] }): readonly Row[] =>
  rows
    .filter(({ statement }) => ofYear.includes(String(statement)))
    .map(({ statement = "", ...row }) => ({
      statement,
      "p50 ms": row["p50 ms"] ?? "",
      "p99 ms": row["p99 ms"] ?? "",
    }));

/** The tables of the guide, each with the bench whose figures it shows. */
const tables: Readonly<Record<string, readonly [bench: string, rowsOf: (figures: never) => readonly Row[]]>> =
  {
    "cold-start": ["cold-start", coldStarts],
    peers: ["cold-start", peers],
    "caller-waits": ["cold-start", callerWaits],
    warm: ["warm", warm],
    "warm-peers": ["warm", warmPeers],
    "residents-1000000": ["residents-1000000", rowsAt("reads")],
    "residents-1000000-readers": ["residents-1000000", rowsAt("readers")],
    "residents-10000000": ["residents-10000000", rowsAt("reads")],
    "residents-10000000-readers": ["residents-10000000", rowsAt("readers")],
    "residents-10000000-shown": ["residents-10000000", rowsAt("shown")],
    import: ["import", rowsAt("ways")],
    "import-recovery": ["import", rowsAt("recovery")],
    accept: ["accept", rowsAt("rounds")],
    delivery: ["delivery", rowsAt("rows")],
    accounts: ["accounts", rowsAt("accounts")],
    "accounts-codes": ["accounts", rowsAt("codes")],
    "accounts-acceptance": ["accounts", acceptance],
    "year-5000000": ["year-5000000", year],
    growth: ["growth", rowsAt("rows")],
    "growth-stored": ["growth", rowsAt("stored")],
    "idle-accounts": ["idle-accounts", rowsAt("rows")],
    start: ["start", measures],
    synth: ["synth", measures],
    suite: ["suite", measures],
  };

const tableOf = (rows: readonly Row[]): string => {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => typeof rows[0]?.[column] !== "object");
  const isText = (column: string) => rows.some((row) => /^[`a-z«]/i.test(String(row[column])));
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns),
    line(columns.map((column) => (isText(column) ? "---" : "---:"))),
    ...rows.map((row) => line(columns.map((column) => row[column] ?? ""))),
  ].join("\n");
};

/** When, and with which numbers of samples, a table was measured. */
const originOf = ({ date, commit, node, ...figures }: Figures): string =>
  [
    ...[`${date}`, ...(commit ? [`commit ${commit}`] : []), `Node ${node}`],
    ...Object.entries(figures).flatMap(([what, value]) =>
      typeof value === "number" ? [`${what} ${value}`] : [],
    ),
  ].join(", ");

const block = /(<!-- npm run bench -- ([\w-]+) -->\n\n)[\s\S]*?(<!-- end -->)/g;

/** Replaces each table of a guide by the stored figures. @throws Error for a table without a bench or a result. */
export const replaceTables = (guide: string): string =>
  guide.replace(block, (_, start: string, name: string, end: string) => {
    const [bench = name, rowsOf = () => []] = tables[name] ?? [];
    const figures = findResult(bench) ?? {};
    const rows = rowsOf(figures as never);
    if (rows.length === 0)
      throw new Error(
        `There are no figures for the table ${name}: run the bench ${bench} with --store first`,
      );
    return `${start}${tableOf(rows)}\n\n${originOf(figures)}\n\n${end}`;
  });

/** Writes the stored figures into the guide `speed` in each language. */
export const writeGuides = (): void => {
  for (const language of languages) {
    const file = `lib/docs/guides/${language}/speed.md`;
    writeFileSync(file, replaceTables(readFileSync(file, "utf8")));
  }
};
