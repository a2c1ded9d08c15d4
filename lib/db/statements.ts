/** Comments, strings, quoted names, dollar-quoted texts, semicolons, words, anything else. */
const token =
  /--.*|\/\*[\s\S]*?\*\/|e'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|;|\w+|[\s\S]/gi;

/**
 * Splits SQL into its statements, without their comments and final semicolons. Knows quotes, dollar quotes and the bodies
 * of `begin atomic … end`, but not nested comments.
 */
export const splitStatements = (sql: string): string[] => {
  const statements: string[] = [];
  let statement = "";
  let depth = 0;
  const end = () => {
    if (statement.trim() !== "") statements.push(statement.trim());
    statement = "";
  };
  for (const [text] of sql.matchAll(token)) {
    if (/^atomic$/i.test(text) || (depth > 0 && /^case$/i.test(text))) depth++;
    else if (depth > 0 && /^end$/i.test(text)) depth--;
    if (text === ";" && depth === 0) end();
    else statement += /^(--|\/\*)/.test(text) ? " " : text;
  }
  end();
  return statements;
};
