import { randomBytes } from "node:crypto";
import type { Employee } from "./employees.ts";
import { type Page, startPhpServer } from "./php-server.ts";

const ticketLifeMs = 5 * 60_000;

const failed = (message: string): Page => ({ json: { status: "failed", message } });

const summaryOf = ({ nip, name, positions: [current] }: Employee) => ({
  peg_id: Number(nip.slice(-6)),
  peg_nip_baru: nip,
  peg_nama: name,
  jab_name: current?.name ?? null,
  uk_nama: current?.unit ?? null,
});

const detailOf = ({ nip, name, photoUrl, positions, ranks }: Employee) => ({
  pegawai: { peg_nama: name, peg_nip: nip, url_photo: photoUrl, peg_gelar: "" },
  jabatan: positions.map(({ unit, name: position, holds }) => ({
    unit_name: unit,
    jab_name: position,
    status_menjabat: holds,
  })),
  kepangkatan: ranks.map(({ group, name: rank }) => ({ golongan: group, pangkat: rank })),
});

/**
 * Starts the employee system that `lib/employee/employee-system.ts` describes, with tickets that expire.
 *
 * @param passphraseOf returns an employee's passphrase.
 */
export const startEmployeeSystem = (
  employees: readonly Employee[],
  passphraseOf: (nip: string) => string | undefined,
) => {
  const tickets = new Map<string, { nip: string; until: number }>();

  const issue = (query: URLSearchParams): Page => {
    const nip = query.get("username") ?? "";
    const passphrase = passphraseOf(nip);
    if (query.get("user") !== "servicelogin" || !passphrase || query.get("pass") !== passphrase)
      return failed("NIP atau password salah");
    const tiket = randomBytes(16).toString("hex");
    tickets.set(tiket, { nip, until: Date.now() + ticketLifeMs });
    return { json: { tiket } };
  };

  const list = (query: URLSearchParams): Page => {
    const nip = query.get("nip") ?? "";
    const name = (query.get("nama") ?? "").toLowerCase();
    const found = employees.filter(
      (employee) => employee.nip.includes(nip) && employee.name.toLowerCase().includes(name),
    );
    // an empty query result is null in PHP's JSON
    return { json: { status: "success", result: found.length > 0 ? found.map(summaryOf) : null } };
  };

  const detail = (query: URLSearchParams): Page => {
    const ticket = tickets.get(query.get("tiket") ?? "");
    const employee = employees.find(({ nip }) => nip === ticket?.nip);
    if (!ticket || ticket.until < Date.now() || !employee) return failed("Tiket tidak berlaku");
    return { json: { status: "success", message: "Data ditemukan", result: detailOf(employee) } };
  };

  return startPhpServer((method, { pathname, searchParams: query }) => {
    if (method !== "GET") return undefined;
    if (pathname === "/index.php/dev/simpeg/auth") return issue(query);
    if (pathname !== "/index.php/dev/simpeg/pegawai") return undefined;
    if (query.get("page") === "sso" && query.get("action") === "getDataPegawai") return detail(query);
    const isList = query.get("page") === "Web-Service-WBS" && query.get("action") === "getPegawai";
    return isList && query.get("pagetype") === "serviceauth" ? list(query) : undefined;
  });
};
