/** `; name=value` or `; name="value"` (RFC 9110, 5.6.6); a name may end in * (RFC 8187). One `;` may stand alone. */
const parameter = /;[ \t]*(?:([\w-]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"\\]+)))?[ \t]*/y;

/** A header such as `form-data; name="photo"`: the value in lower case, and what follows it. */
export interface ParameterizedValue {
  readonly value: string;
  /** By name in lower case, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Reads a header value with parameters, strictly: `undefined` where two readers could differ about it, such as
 * an open quote, text after a quote, or a parameter that is given twice.
 */
export const findParameters = (header: string): ParameterizedValue | undefined => {
  const semicolon = header.indexOf(";");
  const end = semicolon < 0 ? header.length : semicolon;
  const parameters = new Map<string, string>();
  parameter.lastIndex = end;
  for (let at = end; at < header.length; at = parameter.lastIndex) {
    const match = parameter.exec(header);
    if (!match) return undefined;
    const [, spelled, quoted, token = ""] = match;
    if (spelled === undefined) continue;
    const name = spelled.toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, quoted?.replace(/\\(["\\])/g, "$1") ?? token);
  }
  return { value: header.slice(0, end).trim().toLowerCase(), parameters };
};
