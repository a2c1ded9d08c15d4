import { splitStatements } from "#lib/db/index-build.ts";

/** A versioned file, as far as its statements matter. */
interface File {
  readonly file: string;
  readonly kind: "do" | "concurrently";
  readonly text: string;
}

const build = "`create index concurrently if not exists` in a file NNNN.concurrently.<subject>.sql";
const validateLater = "`not valid`, then `validate constraint` in a later file";
const fill = "a nullable column without default, filled in batches, then `set default`";

/** What holds a lock while it reads or rewrites a whole table, and the form that does not. */
const blocking: readonly (readonly [RegExp, string])[] = [
  [/^create (unique )?index (?!concurrently)/, build],
  [/^(vacuum full|cluster)\b/, "`vacuum`, or a new table that is filled in batches"],
  [/^reindex (?!.*\bconcurrently\b)/, "`reindex … concurrently` in a file NNNN.concurrently.<subject>.sql"],
  [
    /\badd (column )?.* generated .*\bstored\b/,
    "a virtual generated column, or a column that a trigger fills",
  ],
  // a function whose result may differ from row to row; now() may not
  [/\badd (column )?.* default (?!now\(\)).*\w\(/, fill],
  [/\badd (column )?\w+ (small|big)?serial|\badd (column )?.* generated .* as identity/, fill],
  [
    /\badd column .* (check ?\(|references )/,
    `a column without it, and the constraint with ${validateLater}`,
  ],
  [
    /\balter (column )?\w+ (set data )?type\b/,
    "a new column that a trigger fills, and a later release that reads it",
  ],
  [/\badd (constraint \w+ )?(check|foreign key|not null)(?!.* not valid)/, validateLater],
  [/\badd (constraint \w+ )?(primary key|unique|exclude)(?! using index)/, `${build}, then \`using index\``],
];

const plain = (name: string) => name.replaceAll('"', "");
/** Lower case, with single spaces, and without the contents of strings and dollar quotes. */
const normalize = (statement: string) =>
  statement
    .replace(/(\$\w*\$)[\s\S]*?\1|'[^']*'/g, "''")
    .replace(/\s+/g, " ")
    .toLowerCase();

/** The table that a statement changes, and the actions on it: `alter table` may have several. */
const readActions = (statement: string) => {
  const [, altered, actions = ""] =
    /^alter table (?:if exists )?(?:only )?([\w."]+) (.*)$/.exec(statement) ?? [];
  if (altered)
    return { table: plain(altered), actions: actions.split(/,(?= (?:add|alter|drop|set|validate)\b)/) };
  const [, indexed] = /^create (?:unique )?index .*?\bon (?:only )?([\w."]+)/.exec(statement) ?? [];
  return { table: plain(indexed ?? ""), actions: [statement] };
};

/** Remembers the constraints that earlier files have validated. */
class Constraints {
  /** Conditions by table and name. */
  readonly #added = new Map<string, string>();
  readonly #validated = new Set<string>();

  read(table: string, action: string): string | undefined {
    const [, added, condition = ""] = /\badd constraint (\w+) (.*) not valid$/.exec(action) ?? [];
    if (added) this.#added.set(`${table} ${added}`, condition);
    const [, validated] = /\bvalidate constraint (\w+)/.exec(action) ?? [];
    if (validated) this.#validated.add(`${table} ${validated}`);
    const [, column] = /\balter (?:column )?(\w+) set not null/.exec(action) ?? [];
    if (!column || this.#isNeverNull(table, column)) return undefined;
    return `\`add constraint … check (${column} is not null)\` with ${validateLater}, and then \`set not null\``;
  }

  #isNeverNull(table: string, column: string): boolean {
    return [...this.#validated].some(
      (key) =>
        key.startsWith(`${table} `) &&
        new RegExp(`^check \\(+${column} is not null\\)+$`).test(this.#added.get(key) ?? ""),
    );
  }
}

/** Statements that concurrently files may have: their repetition does nothing. */
const repeatable =
  /^(create (unique )?index concurrently if not exists \w+ on|drop index concurrently if exists|reindex .*\bconcurrently\b|vacuum (?!full))/;

/**
 * Finds what would block readers or writers of a table that existed before its file for as long as the table is large.
 *
 * @param files in their order.
 * @returns a line for each: the file, the statement and what to write instead.
 */
export const findBlocking = (files: readonly File[]): string[] => {
  const constraints = new Constraints();
  return files.flatMap(({ file, kind, text }) => {
    const statements = splitStatements(text).map(normalize);
    const made = statements.flatMap(
      (line) => /^create table (?:if not exists )?([\w."]+)/.exec(line)?.[1] ?? [],
    );
    const isNew = (table: string) => made.map(plain).includes(table);
    const addedHere = statements.flatMap((line) =>
      [...line.matchAll(/\badd constraint (\w+)/g)].map(([, name]) => name),
    );
    return statements.flatMap((statement) => {
      const line = (form: string) => `${file}: ${statement.slice(0, 100)}: use ${form}`;
      if (kind === "concurrently")
        return repeatable.test(statement) ? [] : [line(`only repeatable statements, such as ${build}`)];
      const { table, actions } = readActions(statement);
      return actions.flatMap((action) => {
        const unchecked = constraints.read(table, action);
        const [, validated] = /\bvalidate constraint (\w+)/.exec(action) ?? [];
        if (isNew(table)) return [];
        const forms = blocking.flatMap(([form, instead]) => (form.test(action) ? [instead] : []));
        if (unchecked) forms.push(unchecked);
        if (validated && addedHere.includes(validated))
          forms.push("`validate constraint` in a file of its own");
        return forms.slice(0, 1).map(line);
      });
    });
  });
};
