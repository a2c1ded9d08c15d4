import { expect, inject, test } from "vitest";
import { basicHeader } from "../steps/messaging.ts";

const { baseUrl, messagingBaseUrl, apiKey, basic } = inject("city");
const json = "application/json";
const form = "application/x-www-form-urlencoded";
const key = { apikey: apiKey };
const sender = { authorization: basicHeader(basic) };

/** One endpoint for each way that a body is read; each body has the name CAFÉ once. */
const endpoints: [string, { url: string; headers: Record<string, string>; body: string }][] = [
  ["a search", { url: `${baseUrl}/v1/penduduk/search`, headers: key, body: '{"p_nama":"CAFÉ"}' }],
  [
    "a verification",
    {
      url: `${baseUrl}/v1/penduduk/verify`,
      headers: key,
      body: '{"p_nik":"9971014101900001","p_nama":"CAFÉ"}',
    },
  ],
  [
    "a login",
    {
      url: `${baseUrl}/v1/simpeg/auth/login`,
      headers: {},
      body: '{"username":"someone","password":"CAFÉ"}',
    },
  ],
  [
    "a text",
    {
      url: `${messagingBaseUrl}/send/message`,
      headers: sender,
      body: '{"phone":"9991234567890","message":"CAFÉ"}',
    },
  ],
];
const refresh = {
  url: `${baseUrl}/v1/simpeg/auth/refresh`,
  headers: {},
  body: "grant_type=refresh_token&refresh_token=CAFÉ",
};

const post = async (
  { url, headers }: { url: string; headers: Record<string, string> },
  type: string,
  body: string | Buffer,
) => {
  const init = { method: "POST", headers: { ...headers, "content-type": type } };
  const response = await fetch(url, { ...init, body: new Uint8Array(Buffer.from(body)) });
  return { status: response.status, text: await response.text() };
};
const latin1 = (text: string) => Buffer.from(text, "latin1");

test.each(endpoints)(
  "%s with bytes that are not UTF-8 is rejected, not read as other letters",
  async (_, endpoint) => {
    const answer = await post(endpoint, json, latin1(endpoint.body));
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("not valid UTF-8") });
  },
);

test("a form with bytes that are not UTF-8 is rejected", async () => {
  const answer = await post(refresh, form, latin1(refresh.body));
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("not valid UTF-8") });
});

test.each(endpoints)("%s that declares another charset is rejected", async (_, endpoint) => {
  for (const charset of ["iso-8859-1", '"windows-1252"', "utf-16"]) {
    const answer = await post(endpoint, `${json}; charset=${charset}`, endpoint.body.replace("É", "E"));
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("not valid UTF-8") });
  }
});

test.each(endpoints)(
  "%s with the mark of a lost letter is rejected, also when it is escaped",
  async (_, endpoint) => {
    for (const mark of ["\uFFFD", "\\ufffd", "\\ud83d"]) {
      const answer = await post(endpoint, json, endpoint.body.replace("É", mark));
      expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("U+FFFD") });
    }
  },
);

test("a query with bytes that are not UTF-8 is rejected", async () => {
  const response = await fetch(`${baseUrl}/v1/pariwisata/destinasi/galeri?where=caf%E9`);
  expect(response.status).toBe(400);
});

test("a body that is nested without end is a wrong one", async () => {
  const [[, search]] = endpoints as [(typeof endpoints)[number]];
  const nested = `{"p_nama":${"[".repeat(30_000)}${"]".repeat(30_000)}}`;
  expect(await post(search, json, nested)).toMatchObject({ status: 400 });
});

test.each([
  "application/json ; charset=utf-8",
  'application/json;charset="UTF-8"',
  "application/json; charset=us-ascii",
  "text/json",
  "application/vnd.city+json; version=1",
  "APPLICATION/JSON",
])("a search in UTF-8 is read when its type is %s", async (type) => {
  const [[, search]] = endpoints as [(typeof endpoints)[number]];
  expect(await post(search, type, search.body)).toMatchObject({ status: 200 });
});

test.each([
  ["a raw line break", '{"p_nama":"A\nB"}', "at line 1, column 13; write a line break in a text as"],
  [
    "a trailing comma",
    '{"p_nama":"A",}',
    "at line 1, column 15; use double quotes, and no comma after the last",
  ],
  ["single quotes", "{'p_nama':'A'}", "at line 1, column 2; use double quotes"],
  ["a single backslash", '{"p_nama":"C:\\x"}', "write a backslash in a text as"],
  ["an end that is missing", '{"p_nama":"SITI', "it ends too early: send the whole body"],
  ["no JSON", "SITI", "let a JSON library write it"],
])(
  "a body with %s is answered with the place and the usual cause, without its content",
  async (_, body, words) => {
    const [[, search]] = endpoints as [(typeof endpoints)[number]];
    const { status, text } = await post(search, json, body);
    expect({ status, text: JSON.parse(text).message }).toMatchObject({
      status: 400,
      text: expect.stringContaining(words),
    });
    expect(text).not.toContain("SITI");
  },
);
