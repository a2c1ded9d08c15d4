import fc from "fast-check";
import { schemaOf } from "#lib/openapi/schema.ts";
import { allWords } from "#lib/openapi/words/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { boundary, field, file, type WrittenPart, write } from "../../steps/multipart.ts";
import { allowedBy, forHeader, headerText, hostileText, hostileValue, strangeName } from "./arbitrary.ts";
import type { Attempt } from "./target.ts";

/** A request with the credential still to be added. */
export interface GeneratedRequest extends Attempt {
  /** Whether the valid credential is sent; otherwise the headers hold a generated one. */
  readonly introduced: boolean;
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

type Fields = readonly (readonly [name: string, valid: fc.Arbitrary<unknown>])[];

/** The fields of one of a route's schemas, each with the values that it allows or documents. */
const fieldsOf = ({ fn }: Route, schema: Parameters<typeof schemaOf>[0] | undefined): Fields => {
  if (!schema) return [];
  const { properties = {} } = schemaOf(schema, "input");
  return Object.entries(properties).map(([name, found]) => {
    const allowed = allowedBy(found);
    const example = allWords[fn]?.fields[name]?.example;
    // the messenger would look up a host name, outside this machine
    if (name.endsWith("_url")) return [name, hostileText] as const;
    return [name, example === undefined ? allowed : fc.oneof(fc.constant(example), allowed)] as const;
  });
};

/** Each field absent, valid or hostile, in any order, some twice, and some fields that do not exist. */
const entriesOf = <T>(
  fields: Fields,
  hostile: fc.Arbitrary<T>,
): fc.Arbitrary<(readonly [string, unknown])[]> => {
  const known = fields.map(([name, valid]) =>
    fc.oneof(
      { weight: 6, arbitrary: valid.map((value) => [[name, value] as const]) },
      { weight: 3, arbitrary: hostile.map((value) => [[name, value] as const]) },
      { weight: 1, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.tuple(valid, hostile).map((both) => both.map((value) => [name, value] as const)),
      },
    ),
  );
  const strange = fc.array(fc.tuple(strangeName, hostile), { maxLength: 2 });
  const other = fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: strange });
  return fc.tuple(...known, other).map((all) => all.flat());
};

/** The gateway rejects longer ones before it knows the route. */
const maxUrlLength = 8_000;

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

const encode = (value: unknown): string => encodeURIComponent(textOf(value).toWellFormed()).slice(0, 6_000);

const brokenEncoding = fc.constantFrom("%", "%zz", "%ff", "%c0%af", "%00", "+", "%u0041", "a%20b", "&&=&");

const urlEncoded = (fields: Fields): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 9,
      arbitrary: entriesOf(fields, hostileText).map((entries) =>
        entries.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&"),
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...fields.map(([name]) => name), "x"), brokenEncoding)
        .map(([name, value]) => `${name}=${value}`),
    },
  );

const jsonBody = (fields: Fields): fc.Arbitrary<string> => {
  // not fromEntries: __proto__ must be a field of the text
  const object = entriesOf(fields, hostileValue).map(
    (entries) =>
      `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? 0}`)}}`,
  );
  const damaged = fc.tuple(object, fc.nat(200)).map(([text, length]) => text.slice(0, length));
  return fc.oneof(
    { weight: 8, arbitrary: object },
    { weight: 1, arbitrary: fc.json({ maxDepth: 5 }) },
    { weight: 1, arbitrary: damaged },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 100 }) },
  );
};

const formBody = (fields: Fields): fc.Arbitrary<Buffer> => {
  const part = ([name, value]: readonly [string, unknown]): fc.Arbitrary<WrittenPart> => {
    const plain = field(name, textOf(value));
    const content = fc.oneof(fc.constant(png), fc.uint8Array({ maxLength: 300 }).map(Buffer.from));
    const uploaded = fc
      .tuple(hostileText, content, headerText)
      .map(([fileName, bytes, type]) => file(name, fileName.replace(/[\r\n]/g, " "), bytes, type));
    const isUpload = name === "image" || name === "file";
    return fc.oneof(
      { weight: isUpload ? 1 : 9, arbitrary: fc.constant(plain) },
      { weight: isUpload ? 9 : 1, arbitrary: uploaded },
    );
  };
  const intact = entriesOf(fields, hostileText).chain((entries) =>
    fc.tuple(...entries.map(part)).map((parts) => write(parts)),
  );
  const damaged = fc.tuple(intact, fc.nat(2_000)).map(([bytes, length]) => bytes.subarray(0, length));
  return fc.oneof({ weight: 9, arbitrary: intact }, { weight: 1, arbitrary: damaged });
};

const contentTypes = {
  json: "application/json",
  raw: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: `multipart/form-data; boundary=${boundary}`,
};

const mostly = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 15, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

const bodyOf = (route: Route): fc.Arbitrary<Buffer | string | undefined> => {
  if (!route.body) return fc.constant(undefined);
  if (route.encoding === "raw") return jsonBody([]);
  const fields = fieldsOf(route, route.body);
  if (route.encoding === "multipart") return formBody(fields);
  return route.encoding === "form" ? urlEncoded(fields) : jsonBody(fields);
};

const pathOf = (route: Route): fc.Arbitrary<string> => {
  const [[, valid] = []] = fieldsOf(route, route.params);
  if (!valid) return fc.constant(route.path);
  const segment = fc.oneof(valid, hostileText).map((value) => encode(value) || "%20");
  return segment.map((text) => route.path.replace(/\{\w+\+?\}/, () => text));
};

const headersOf = (route: Route): fc.Arbitrary<Record<string, string>> => {
  const own = fieldsOf(route, route.headers).map(([name, valid]) =>
    fc
      .oneof(
        fc.constant(undefined),
        valid.map((value) => forHeader(textOf(value))),
        headerText,
      )
      .map((value) => (value === undefined ? {} : { [name]: value })),
  );
  const contentType = mostly(contentTypes[route.encoding ?? "json"], headerText);
  const type = route.body ? contentType.map((value) => ({ "content-type": value })) : fc.constant({});
  const more = mostly<Record<string, string>>(
    {},
    headerText.map((value) => ({ "accept-language": value, accept: value })),
  );
  return fc.tuple(type, more, ...own).map((all) => Object.assign({}, ...all));
};

const strangeCredential = (kind: Route["auth"]["kind"]): fc.Arbitrary<Record<string, string>> => {
  if (kind === "apiKey") return headerText.map((text) => ({ apikey: text }));
  return fc
    .tuple(fc.constantFrom("Bearer ", "Basic ", "bearer", "", "Bearer eyJhbGciOiJub25lIn0."), headerText)
    .map(([scheme, text]) => ({ authorization: `${scheme}${text}` }));
};

/** Requests to a route whose fields, headers and form are partly valid and partly hostile. */
export const requestTo = (route: Route): fc.Arbitrary<GeneratedRequest> => {
  const query = route.query
    ? urlEncoded(fieldsOf(route, route.query))
    : mostly("", urlEncoded([["q", hostileText]]));
  const isPublic = route.auth.kind === "public";
  const credential = isPublic
    ? fc.constant(undefined)
    : mostly<Record<string, string> | undefined>(undefined, strangeCredential(route.auth.kind));
  return fc
    .tuple(pathOf(route), query, headersOf(route), bodyOf(route), credential)
    .map(([path, search, headers, body, other]) => ({
      method: route.method,
      path: (search ? `${path}?${search}` : path).slice(0, maxUrlLength),
      headers: { ...headers, ...other },
      body,
      introduced: other === undefined,
    }));
};
