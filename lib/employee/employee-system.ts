/*
 * The employee system behind EMPLOYEE_SYSTEM_URL, as this product expects it:
 *
 *   GET /index.php/dev/simpeg/auth?user=servicelogin&username=<NIP>&pass=<passphrase>
 *   GET /index.php/dev/simpeg/pegawai?pagetype=serviceauth&page=Web-Service-WBS&action=getPegawai[&nip=][&nama=]
 *   GET /index.php/dev/simpeg/pegawai?page=sso&action=getDataPegawai&tiket=<ticket>
 *
 * Success is 200 and JSON under any content type, with lists as PHP encodes them (listOf). A rejected passphrase or ticket is
 * {"status": "failed"} with 200, 401, 403 or 404. Anything else counts as a failure of the system (502).
 */
import * as z from "zod/mini";
import type { Answer } from "#lib/http-client.ts";
import type { EmployeeDetail, EmployeeList, Ticket } from "#lib/routes/employee.ts";
import { invalidResponse, listOf, proofTimeoutMs, sendRequest } from "./upstream.ts";

const system = "EMPLOYEE_SYSTEM_URL";
const ticketPath = "/index.php/dev/simpeg/auth";
const employeePath = "/index.php/dev/simpeg/pegawai";

/** Null means that the employee has none, such as a position. */
const blankable = z.pipe(
  z.nullable(z.string()),
  z.transform((value) => value ?? ""),
);

const TicketAnswer = z.object({ tiket: z.string().check(z.minLength(1)) });

const ListAnswer = z.object({
  status: z.literal("success"),
  result: listOf(
    z.object({ peg_nip_baru: z.string(), peg_nama: z.string(), jab_name: blankable, uk_nama: blankable }),
  ),
});

const DetailAnswer = z.object({
  status: z.literal("success"),
  message: z.string(),
  result: z.object({
    pegawai: z.object({ peg_nama: z.string(), peg_nip: z.string(), url_photo: blankable }),
    jabatan: listOf(z.object({ unit_name: blankable, jab_name: blankable, status_menjabat: blankable })),
    kepangkatan: listOf(z.object({ golongan: blankable, pangkat: blankable })),
  }),
});

const Rejected = z.object({ status: z.literal("failed") });

const isRejection = ({ status, json }: Answer) =>
  [200, 401, 403, 404].includes(status) && Rejected.safeParse(json).success;

/** Parses a response; additional fields are dropped. @throws ApiError 502; the invalid fields are logged. */
const read = <T>(schema: z.ZodMiniType<T>, { status, json }: Answer): T => {
  if (status !== 200) throw invalidResponse(system, `status ${status}`);
  if (json === undefined) throw invalidResponse(system, "the answer is not JSON");
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  // names of fields, never their values
  const fields = parsed.error.issues.map(({ path }) => path.join(".") || "(whole)");
  throw invalidResponse(
    system,
    `missing or of another type: ${[...new Set(fields)].slice(0, 10).join(", ")}`,
  );
};

/** Returns a session ticket for the employee, or undefined when the system rejects NIP and passphrase. */
export const findTicket = async (nip: string, passphrase: string): Promise<Ticket | undefined> => {
  const query = { user: "servicelogin", username: nip, pass: passphrase };
  const answer = await sendRequest(system, {
    method: "GET",
    path: ticketPath,
    query,
    timeoutMs: proofTimeoutMs,
  });
  return isRejection(answer) ? undefined : read(TicketAnswer, answer);
};

/** Lists the employees with this NIP, part of a name or both; all of them without either. */
export const listEmployees = async (criteria: {
  nip: string | undefined;
  name: string | undefined;
}): Promise<EmployeeList> => {
  const query = {
    pagetype: "serviceauth",
    page: "Web-Service-WBS",
    action: "getPegawai",
    ...(criteria.nip !== undefined && { nip: criteria.nip }),
    ...(criteria.name !== undefined && { nama: criteria.name }),
  };
  return read(ListAnswer, await sendRequest(system, { method: "GET", path: employeePath, query }));
};

/** Returns the profile of the employee that a ticket was issued for, or undefined for an unknown or expired one. */
export const findEmployee = async (ticket: string): Promise<EmployeeDetail | undefined> => {
  const query = { page: "sso", action: "getDataPegawai", tiket: ticket };
  const answer = await sendRequest(system, {
    method: "GET",
    path: employeePath,
    query,
    timeoutMs: proofTimeoutMs,
  });
  return isRejection(answer) ? undefined : read(DetailAnswer, answer);
};
