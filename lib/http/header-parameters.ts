/** `; name=value` or `; name="value"` (RFC 9110, 5.6.6); a name may end in * (RFC 8187). Allows a `;` alone. */
const parameter = /;[ \t]*(?:([\w-]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"\\]+)))?[ \t]*/y;

/** A header such as `form-data; name="photo"`: its value in lower case, and its parameters. */
export interface ParameterizedValue {
  readonly value: string;
  /** By name in lower case, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Parses a header value with parameters. Returns undefined for a value that parsers interpret differently, such as an
 * unclosed quote, text after a quote, or a repeated parameter.
 */
export const findParameters = (header: string): ParameterizedValue | undefined => {
  const semicolon = header.indexOf(";");
  const end = semicolon < 0 ? header.length : semicolon;
  const parameters = new Map<string, string>();
  parameter.lastIndex = end;
  for (let at = end; at < header.length; at = parameter.lastIndex) {
    const match = parameter.exec(header);
    if (!match) return undefined;
    const [, rawName, quoted, token = ""] = match;
    if (rawName === undefined) continue;
    const name = rawName.toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, quoted?.replace(/\\(["\\])/g, "$1") ?? token);
  }
  return { value: header.slice(0, end).trim().toLowerCase(), parameters };
};
