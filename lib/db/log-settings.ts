import type postgres from "postgres";

/** Settings of a server that keep rows and parameters, which are personal data, out of its log. */
export const logSettings = {
  log_error_verbosity: "terse", // no DETAIL, such as "Failing row contains (…)"
  log_min_error_statement: "panic",
  log_parameter_max_length: "0",
  log_parameter_max_length_on_error: "0",
};

/** @throws Error that names the settings of the server that are different. */
export const requireLogSettings = async (sql: postgres.Sql): Promise<void> => {
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings where name in ${sql(Object.keys(logSettings))}`;
  const current = new Map(rows.map(({ name, setting }) => [name, setting]));
  const wrong = Object.entries(logSettings).filter(([name, value]) => current.get(name) !== value);
  if (wrong.length > 0)
    throw new Error(
      `The database server writes personal data to its log. Set there: ${wrong.map((pair) => pair.join(" = ")).join(", ")}`,
    );
};
