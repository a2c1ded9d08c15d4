import { describe, expect, inject, test } from "vitest";
import { ApiError } from "#lib/errors/api-error.ts";
import { parameterNames, readQuery } from "#lib/http/query.ts";
import { getTicket, login, readEmployees } from "#lib/routes/employee.ts";
import { routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { employeeClient } from "../steps/employee.ts";

const { baseUrl, apiKey, employee } = inject("city");

type Sent = Readonly<Record<string, string[]>>;

/** The 400 for these query parameters. */
const refuseAll = (sent: Sent, route: Pick<Route, "query" | "ignoredQuery">): ApiError => {
  const last = Object.entries(sent).map(([name, values]) => [name, values.at(-1)] as const);
  try {
    readQuery(
      { queryStringParameters: Object.fromEntries(last), multiValueQueryStringParameters: sent },
      route,
    );
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  return expect.fail(`${Object.keys(sent)} is accepted`);
};

const refuse = (name: string, route: Pick<Route, "query" | "ignoredQuery"> = readEmployees): ApiError =>
  refuseAll({ [name]: ["planted"] }, route);

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
  expect(message).toMatch(new RegExp(`^A query parameter is unknown; did you mean ${nearest}\\?`));
  expect(errors).toEqual([{ field: nearest, message }]);
});

test("the 400 for a name that is like none names all", () => {
  const message = `A query parameter is unknown; the endpoint takes ${parameterNames(getTicket.query).join(", ")}`;
  expect(refuse("foo", getTicket)).toMatchObject({ message, errors: [{ field: "query", message }] });
});

test.each(["rahasia", "correct-horse", "9971012345670004", "parameters[rahasia]", "x".repeat(60)])(
  "the 400 does not repeat what follows an & in a passphrase: %s",
  (sent) => {
    for (const route of [getTicket, login, readEmployees])
      for (const values of [[""], ["", ""]]) {
        const { message, errors } = refuseAll({ pass: ["a"], [sent]: values }, route);
        expect(message + JSON.stringify(errors)).not.toContain(sent);
      }
  },
);

test("the 400 for a repeated parameter of the contract names it", () =>
  expect(refuseAll({ nama: ["a", "b"] }, readEmployees).message).toMatch(/^nama must be given once/));

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
