import { describe, expect, inject, test } from "vitest";
import { Fault } from "#lib/faults/fault.ts";
import { parameterNames, readQuery } from "#lib/http/query.ts";
import { readEmployees } from "#lib/routes/employee.ts";
import { routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { employeeClient } from "../steps/employee.ts";

const { baseUrl, apiKey, employee } = inject("city");

/** The 400 for one query parameter. */
const refuse = (name: string, route: Pick<Route, "query" | "ignoredQuery"> = readEmployees): Fault => {
  try {
    readQuery({ queryStringParameters: { [name]: "planted" } }, route);
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  return expect.fail(`${name} is accepted`);
};

test("the parameters of the contract are those that each route takes", () => {
  const known = routes.flatMap(({ fn, query }) => (query ? [[fn, parameterNames(query).join()]] : []));
  expect(Object.fromEntries(known)).toMatchObject({
    "employee/ticket": "user,username,pass",
    "employee/employees": "pagetype,page,action,nip,nama,tiket",
    "tourism/gallery": "where",
  });
});

test("an unknown query parameter is a 400 at every endpoint", () => {
  for (const route of routes.filter(({ ignoredQuery }) => ignoredQuery !== "all"))
    expect(refuse("zzz", route)).toMatchObject({ status: 400, code: "invalid_request" });
});

test.each([
  ["parameters[nama]", "nama"],
  ["nma", "nama"],
  ["Nama", "nama"],
  ["ticket", "tiket"],
  ["page_type", "pagetype"],
  ["search.nip", "nip"],
])("the 400 for %s names %s", (sent, nearest) => {
  const { message, errors } = refuse(sent);
  expect(message).toMatch(new RegExp(`^${RegExp.escape(sent)} is not .* did you mean ${nearest}\\?`));
  expect(errors).toEqual([{ field: nearest, message }]);
});

test.each(["9971012345670004", "correct horse", "x".repeat(8_000)])(
  "what may be part of a value is not repeated: %.16s",
  (sent) => expect(refuse(sent).message).toMatch(/^A parameter is not/),
);

describe("the API", () => {
  test("does not answer with all employees to a filter that it does not know", async () => {
    const { token } = (await employeeClient(baseUrl).login(employee.username, employee.password)).json;
    const headers = { authorization: `Bearer ${token}` };
    const ask = (query: string) => fetch(`${baseUrl}/v1/simpeg/pegawai?${query}`, { headers });
    expect((await ask("nama=siti")).status).toBe(200);
    const response = await ask("parameters[nama]=siti");
    expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ field: "nama" }] }]);
  });

  test("ignores a key in the query beside the one in the header", async () => {
    const init = { method: "POST", headers: { apikey: apiKey } };
    expect((await fetch(`${baseUrl}/v1/penduduk?apikey=x`, init)).status).toBe(200);
    expect((await fetch(`${baseUrl}/v1/penduduk?page_number=2`, init)).status).toBe(400);
  });

  test("serves its pages to links to which other apps have added parameters", async () => {
    for (const path of ["/docs", "/docs/paging"])
      expect((await fetch(`${baseUrl}${path}?fbclid=x`)).status).toBe(200);
  });
});
