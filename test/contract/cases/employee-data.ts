import * as z from "zod/mini";
import type { Section } from "../case.ts";
import {
  expectHeader,
  expectInvalid,
  expectRefusal,
  expectRule,
  expectShape,
  expectStatus,
} from "../mismatch.ts";
import { credential, type System } from "../system.ts";

const ticketPath = "/v1/simpeg/tiket";
const employeePath = "/v1/simpeg/pegawai";

const EmployeeList = z.strictObject({
  status: z.literal("success"),
  result: z.array(
    z.strictObject({
      ...{ peg_nip_baru: z.string(), peg_nama: z.string() },
      ...{ jab_name: z.string(), uk_nama: z.string() },
    }),
  ),
});
const EmployeeDetail = z.strictObject({
  status: z.literal("success"),
  message: z.string(),
  result: z.strictObject({
    pegawai: z.strictObject({ peg_nama: z.string(), peg_nip: z.string(), url_photo: z.string() }),
    jabatan: z.array(
      z.strictObject({ unit_name: z.string(), jab_name: z.string(), status_menjabat: z.string() }),
    ),
    kepangkatan: z.array(z.strictObject({ golongan: z.string(), pangkat: z.string() })),
  }),
});

export const wrongLists: [string, string, string][] = [
  ["another pagetype", "pagetype=x", "pagetype"],
  ["another page", "page=x", "page"],
  ["another action", "action=x", "action"],
  ["a blank action", "action=", "action"],
  ["a parameter sent twice", "nama=a&nama=b", "nama"],
  ["a name of 101 characters", `nama=${"n".repeat(101)}`, "nama"],
  ["a control character", "nip=%00", "nip"],
  ["the detail's page with the list's action", "page=sso&action=getPegawai", "action"],
  ["the list's page with the detail's action", "page=Web-Service-WBS&action=getDataPegawai&tiket=t", "page"],
  ["a ticket alone", "tiket=t", "page"],
  ["the detail form without ticket", "page=sso&action=getDataPegawai", "tiket"],
  ["the detail form with a blank ticket", "page=sso&action=getDataPegawai&tiket=", "tiket"],
  ["the detail form with a NIP", "page=sso&action=getDataPegawai&tiket=t&nip=1", "nip"],
  ["the detail form with two tickets", "page=sso&action=getDataPegawai&tiket=t&tiket=u", "tiket"],
];

const digits = "1".repeat(18);
/** What is wrong, the query, and the field that the error names. */
export const wrongTickets: [string, string, string][] = [
  ["another user", `user=x&username=${digits}&pass=p`, "user"],
  ["no user", `username=${digits}&pass=p`, "user"],
  ["no username", "user=servicelogin&pass=p", "username"],
  ["a NIP of 17 digits", `user=servicelogin&username=${digits.slice(1)}&pass=p`, "username"],
  ["no pass", `user=servicelogin&username=${digits}`, "pass"],
  ["a blank pass", `user=servicelogin&username=${digits}&pass=`, "pass"],
  ["a pass sent twice", `user=servicelogin&username=${digits}&pass=p&pass=q`, "pass"],
];

const get = ({ ask }: System, path: string, query: URLSearchParams | string, about: string) =>
  ask({ as: "account", method: "GET", path: `${path}?${query}`, about });

const listEmployees = async (system: System, query: Record<string, string>, about: string) => {
  const answer = await get(system, employeePath, new URLSearchParams(query), about);
  expectStatus(answer, 200);
  return { answer, employees: expectShape(answer, EmployeeList).result };
};

/** A name that no employee has. */
const nobody = "zzqx zzqx";
const upstreamFix =
  "502 and 504 come from the employee system: check EMPLOYEE_SYSTEM_URL and lib/employee/employee-system.ts. The log entry with the request id names the unexpected field.";

export const employeeData: Section = {
  title: "Employee: tickets, list and profile",
  cases: [
    {
      name: "answers 401 with a challenge to ticket, list and detail requests without a valid token",
      needs: [],
      fix: "Check the bearer authorizer of both routes, and the gateway response UNAUTHORIZED with WWW-Authenticate in infra/aws/integration-api.ts.",
      check: async ({ ask }) => {
        const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"1","scope":"employee:read"}')}.`;
        const callers: [string, string | undefined][] = [
          ["no header", undefined],
          ["a blank header", ""],
          ["another scheme", "Basic dTpw"],
          ["only the scheme", "Bearer"],
          ["a malformed token", "Bearer x"],
          ["an unsigned token", `Bearer ${unsigned.replaceAll("=", "")}`],
        ];
        for (const path of [
          ticketPath,
          employeePath,
          `${employeePath}?page=sso&action=getDataPegawai&tiket=t`,
        ])
          for (const [about, authorization] of callers) {
            const headers = { ...(authorization !== undefined && { authorization }) };
            const answer = await ask({ method: "GET", path, about, headers });
            expectRefusal(answer, 401, "unauthorized");
            expectHeader(answer, "www-authenticate", /^Bearer /);
          }
      },
    },
    {
      name: "answers 404 to other methods",
      needs: [],
      fix: "Check the gateway response MISSING_AUTHENTICATION_TOKEN in infra/aws/integration-api.ts; its default is 403.",
      check: async ({ ask }) => {
        for (const path of ["/v1/simpeg/auth/login", "/v1/simpeg/auth/refresh"])
          expectRefusal(await ask({ method: "GET", path }), 404, "not_found");
        for (const path of [ticketPath, employeePath]) expectRefusal(await ask({ path }), 404, "not_found");
      },
    },
    {
      name: "answers success with an empty result when no employee has the name",
      needs: ["account"],
      fix: upstreamFix,
      check: async (system) => {
        const { answer, employees } = await listEmployees(system, { nama: nobody }, "an unknown name");
        expectRule(answer, employees.length === 0, "no employees", `${employees.length} employees`);
      },
    },
    {
      name: "finds an employee by NIP, by name and by both, and returns exactly four strings for each",
      needs: ["account", "employee"],
      fix: upstreamFix,
      check: async (system) => {
        const { nip } = credential(system, "employee");
        const defaults = { pagetype: "serviceauth", page: "Web-Service-WBS", action: "getPegawai" };
        const { answer, employees } = await listEmployees(system, { ...defaults, nip }, "the NIP");
        const [found] = employees;
        expectRule(
          answer,
          employees.length === 1 && found?.peg_nip_baru === nip,
          "only the employee",
          `${employees.length} employees`,
        );
        for (const query of [{ nama: found?.peg_nama ?? "" }, { nip, nama: found?.peg_nama ?? "" }]) {
          const again = await listEmployees(system, query, Object.keys(query).join(" and "));
          const among = again.employees.some(({ peg_nip_baru }) => peg_nip_baru === nip);
          expectRule(again.answer, among, "a list with the employee", "a list without");
        }
        const contradicting = await listEmployees(system, { nip, nama: nobody }, "a NIP and another's name");
        expectRule(contradicting.answer, contradicting.employees.length === 0, "no employees", "some");
      },
    },
    {
      name: "list and detail reject other values, repeated parameters and mixed forms",
      needs: ["account"],
      fix: "Check the query schema in lib/routes/employee.ts.",
      check: async (system) => {
        for (const [about, query, field] of wrongLists)
          expectInvalid(await get(system, employeePath, query, about), field);
      },
    },
    {
      name: "ticket rejects missing, repeated and wrong parameters",
      needs: ["account"],
      fix: "Check the ticket schema in lib/routes/employee.ts.",
      check: async (system) => {
        for (const [about, query, field] of wrongTickets)
          expectInvalid(await get(system, ticketPath, query, about), field);
      },
    },
    {
      name: "a ticket alone returns the profile of its employee",
      needs: ["account", "employee"],
      fix: `403: check NIP and passphrase. ${upstreamFix}`,
      check: async (system) => {
        const { nip, passphrase } = credential(system, "employee");
        const asked = new URLSearchParams({ user: "servicelogin", username: nip, pass: passphrase });
        const answer = await get(system, ticketPath, asked, "the employee");
        expectStatus(answer, 200);
        const { tiket } = expectShape(answer, z.strictObject({ tiket: z.string().check(z.minLength(1)) }));
        const query = new URLSearchParams({ page: "sso", action: "getDataPegawai", tiket });
        const detail = await get(system, employeePath, query, "the ticket");
        expectStatus(detail, 200);
        const { pegawai } = expectShape(detail, EmployeeDetail).result;
        expectRule(detail, pegawai.peg_nip === nip, "the ticket's employee", "another one");
      },
    },
    {
      name: "answers 404 to an unknown ticket",
      needs: ["account"],
      fix: upstreamFix,
      check: async (system) => {
        const query = `page=sso&action=getDataPegawai&tiket=${"0".repeat(32)}`;
        expectRefusal(await get(system, employeePath, query, "an unknown ticket"), 404, "ticket_not_found");
      },
    },
  ],
};
