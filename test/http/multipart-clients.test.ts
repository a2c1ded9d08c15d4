import { buffer } from "node:stream/consumers";
import axios from "axios";
import FormDataPackage from "form-data";
import * as undici from "undici";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../steps/http-server.ts";
import { parse } from "../steps/multipart.ts";
import { Random } from "../steps/random.ts";
import { expected, type Form, makeBoundary, makeForm, writeByHand } from "./multipart-forms.ts";

interface Written {
  readonly body: Buffer;
  readonly contentType: string;
}

/** The parsed and the expected form, compared as text, which shows a difference faster. */
const spell = ({ fields, files }: Form) => [
  ...Object.entries(fields).toSorted(),
  ...Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { content, fileName, contentType }]) => [
      name,
      content.toString("latin1"),
      fileName,
      contentType,
    ]),
];

const comeBack = async (
  seeds: { readonly from: number; readonly count: number },
  client: (form: Form, between: string, random: Random) => Written | Promise<Written>,
  change: (form: Form) => Form = (form) => form,
) => {
  const different: number[] = [];
  for (let seed = seeds.from; seed < seeds.from + seeds.count; seed++) {
    const random = new Random(seed);
    const between = makeBoundary(random);
    const form = makeForm(random, between);
    const { body, contentType } = await client(form, between, random);
    const { fields, files } = await parse(body, contentType);
    if (JSON.stringify(spell({ fields, files })) !== JSON.stringify(spell(expected(change(form)))))
      different.push(seed);
  }
  expect(different).toEqual([]);
};

/** The browsers' way: a line end in a field becomes CRLF, by the standard (WHATWG HTML, 4.10.21.8). */
const withCrlf = ({ fields, files }: Form): Form => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value.replace(/\r?\n/g, "\r\n")]),
  ),
  files,
});

const fill = <F extends { append(name: string, value: string | Blob, fileName?: string): void }>(
  data: F,
  { fields, files }: Form,
): F => {
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  for (const [name, { content, fileName, contentType }] of Object.entries(files))
    data.append(name, new Blob([Uint8Array.from(content)], { type: contentType }), fileName);
  return data;
};

test("1,000 handwritten forms in many spellings are parsed exactly", () =>
  comeBack({ from: 0, count: 1_000 }, (form, between, random) => writeByHand(random, form, between)));

test("400 forms of undici, Node's fetch, are parsed exactly", () =>
  comeBack(
    { from: 10_000, count: 400 },
    async (form) => {
      const response = new undici.Response(fill(new undici.FormData(), form));
      const contentType = response.headers.get("content-type") ?? "";
      return { body: Buffer.from(await response.arrayBuffer()), contentType };
    },
    withCrlf,
  ));

test("400 forms of form-data are parsed exactly", () =>
  comeBack({ from: 20_000, count: 400 }, ({ fields, files }, between) => {
    const data = new FormDataPackage();
    data.setBoundary(between.replace(/[^\w'+.-]/g, "-"));
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    for (const [name, { content, fileName: filename, contentType }] of Object.entries(files))
      data.append(name, content, { filename, contentType });
    const body = Object.keys({ ...fields, ...files }).length > 0 ? data.getBuffer() : Buffer.from("");
    return body.length > 0
      ? { body, contentType: String(data.getHeaders()["content-type"]) }
      : { body: Buffer.from("--b--"), contentType: "multipart/form-data; boundary=b" };
  }));

test("200 forms of axios over HTTP are parsed exactly", async () => {
  const received: Written[] = [];
  const url = await serve(async (request, response) => {
    received.push({ body: await buffer(request), contentType: request.headers["content-type"] ?? "" });
    response.end();
  });
  onTestFinished(() => void received.splice(0));
  await comeBack(
    { from: 30_000, count: 200 },
    async (form) => {
      await axios.post(url, fill(new FormData(), form));
      return received.pop() ?? { body: Buffer.alloc(0), contentType: "" };
    },
    withCrlf,
  );
});
