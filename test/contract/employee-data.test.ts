import { beforeAll, describe, expect, inject, test } from "vitest";
import { employeeClient, seenBy } from "../steps/employee.ts";
import { wrongLists, wrongTickets } from "./cases/employee-data.ts";
import { when } from "./when.ts";

const { baseUrl, employee, employeeSystemUrl } = inject("city");
const ticketPath = "/v1/simpeg/tiket";
const employeePath = "/v1/simpeg/pegawai";
const ticketQuery = { user: "servicelogin", username: employee.nip, pass: employee.passphrase };
const detailQuery = { page: "sso", action: "getDataPegawai" };

let token: string;
let readerToken: string;

beforeAll(async () => {
  const client = employeeClient(baseUrl);
  token = (await client.login(employee.username, employee.password)).json.token;
  readerToken = (await client.login("reader", employee.password)).json.token;
});

/** Path and parameters of the employee system's last request with this text in it. */
const lastSeen = async (text: string) => {
  const address = (await seenBy(employeeSystemUrl)).findLast(({ url }) => url.includes(text))?.url ?? "/none";
  const url = new URL(address, employeeSystemUrl);
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) };
};
const countSeen = async () => (await seenBy(employeeSystemUrl)).length;

const get = (path: string, query: string | Record<string, string>, bearer = token) =>
  when({
    method: "GET",
    path: `${path}?${new URLSearchParams(query)}`,
    headers: { authorization: `Bearer ${bearer}` },
  });

describe("the ticket endpoint", () => {
  test("returns only a ticket, from the upstream path", async () => {
    const { status, json } = await get(ticketPath, ticketQuery);
    expect([status, json]).toEqual([200, { tiket: expect.stringMatching(/^\w+$/) }]);
    expect(await lastSeen("servicelogin")).toEqual({
      path: "/index.php/dev/simpeg/auth",
      query: ticketQuery,
    });
  });

  test("forwards only the contract's parameters, unchanged", async () => {
    const pass = `a&b=c d+e%20/?#'"\\é🔑`;
    const { status } = await get(ticketPath, { ...ticketQuery, pass });
    expect(status).toBe(403);
    expect((await lastSeen(encodeURIComponent("🔑"))).query).toEqual({ ...ticketQuery, pass });
  });

  test.each(wrongTickets)("answers 400 to %s without calling the upstream", async (_, query, field) => {
    const before = await countSeen();
    const { status, json } = await get(ticketPath, query);
    expect([status, json.errors[0].field]).toEqual([400, field]);
    expect(await countSeen()).toBe(before);
  });

  test("gives the same 403 to a wrong passphrase and an unknown employee", async () => {
    const wrong = await get(ticketPath, { ...ticketQuery, pass: "wrong" });
    const unknown = await get(ticketPath, { ...ticketQuery, username: "1".repeat(18) });
    for (const { status, json } of [wrong, unknown])
      expect([status, { ...json, request_id: "" }]).toEqual([
        403,
        { ...wrong.json, code: "ticket_refused", request_id: "" },
      ]);
  });

  test("answers 403 to a token without the scope, before it checks the parameters", async () => {
    const { status, json } = await get(ticketPath, {}, readerToken);
    expect([status, json.code]).toEqual([403, "forbidden"]);
  });
});

describe("the list form", () => {
  test("returns summaries of exactly four strings, from the upstream path with the default parameters", async () => {
    const { status, json } = await get(employeePath, { nama: "SRI SITI" });
    expect([status, json.status]).toEqual([200, "success"]);
    expect(json.result).toContainEqual({
      peg_nip_baru: employee.nip,
      peg_nama: "SRI SITI",
      jab_name: expect.any(String),
      uk_nama: expect.any(String),
    });
    expect(await lastSeen("SRI")).toEqual({
      path: "/index.php/dev/simpeg/pegawai",
      query: { pagetype: "serviceauth", page: "Web-Service-WBS", action: "getPegawai", nama: "SRI SITI" },
    });
  });

  test.each([
    ["neither", {}, 120],
    ["the NIP", { nip: employee.nip }, 1],
    ["the name", { nama: "sri siti" }, 2],
    ["both", { nip: employee.nip, nama: "siti" }, 1],
    ["both that contradict", { nip: employee.nip, nama: "xyz" }, 0],
    ["blank ones, as none", { nip: "", nama: " " }, 120],
    [
      "the documented values",
      { pagetype: "serviceauth", page: "Web-Service-WBS", action: "getPegawai", nip: employee.nip },
      1,
    ],
  ])("searches with %s", async (_, query, count) => {
    const { status, json } = await get(employeePath, query as Record<string, string>);
    expect([status, json.result.length]).toEqual([200, count]);
  });

  test("answers 400 to a parameter that it does not know without calling the upstream", async () => {
    const before = await countSeen();
    const { status, json } = await get(employeePath, { nip: employee.nip, callback: "x" });
    expect([status, json.code]).toEqual([400, "invalid_request"]);
    expect(await countSeen()).toBe(before);
  });

  test("returns blanks for an employee without a position", async () => {
    const { json } = await get(employeePath, {});
    const without = json.result.filter(({ jab_name }: { jab_name: string }) => jab_name === "");
    expect([without.length, without[0].uk_nama]).toEqual([12, ""]);
  });

  test("forwards a name unchanged", async () => {
    const nama = `D'ARAÚJO & Co+1 50%`;
    expect((await get(employeePath, { nama })).json.result).toEqual([]);
    expect((await lastSeen("ARA%C3%9AJO")).query.nama).toBe(nama);
  });

  test.each(wrongLists)("answers 400 to %s without calling the upstream", async (_, query, field) => {
    const before = await countSeen();
    const { status, json } = await get(employeePath, query);
    expect([status, json.code, json.errors[0].field]).toEqual([400, "invalid_request", field]);
    expect(await countSeen()).toBe(before);
  });
});

describe("the detail form", () => {
  test("returns the profile of the ticket's employee under the detail's field names", async () => {
    const { tiket } = (await get(ticketPath, ticketQuery)).json;
    const { status, json } = await get(employeePath, { ...detailQuery, tiket });
    expect(status).toBe(200);
    expect(json).toEqual({
      status: "success",
      message: "Data ditemukan",
      result: {
        pegawai: {
          peg_nama: "SRI SITI",
          peg_nip: employee.nip,
          url_photo: `https://images.example/employees/${employee.nip}.jpg`,
        },
        jabatan: [
          { unit_name: expect.any(String), jab_name: expect.any(String), status_menjabat: "y" },
          { unit_name: expect.any(String), jab_name: expect.any(String), status_menjabat: "n" },
        ],
        kepangkatan: expect.arrayContaining([{ golongan: "IV/a", pangkat: "" }]),
      },
    });
    expect(await lastSeen(tiket)).toEqual({
      path: "/index.php/dev/simpeg/pegawai",
      query: { ...detailQuery, tiket },
    });
  });

  test("accepts a token that may only read", async () =>
    expect((await get(employeePath, { nip: employee.nip }, readerToken)).status).toBe(200));
});
