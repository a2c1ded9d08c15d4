import type postgres from "postgres";
import { inventName, randomOf } from "./names.ts";

const places = ["Kantor Dukcapil, Loket 3", "Kantor Kecamatan Sukolilo", "Mal Pelayanan Publik, Lantai 2"];
const services = ["Perekaman KTP elektronik", "Pencetakan kartu keluarga", "Akta kelahiran"];

const pick = (values: readonly string[], row: number) => values[row % values.length] ?? "";

/** On the simulated platform, phones with these numbers are created by their first message. */
const phoneOf = (row: number) => `62812000010${String(row).padStart(2, "0")}`;
const nameOf = (row: number) => inventName(randomOf(row), row % 2 ? "female" : "male");

const dayMs = 86_400_000;
/** Jakarta has no daylight saving time. */
const cityOffsetMs = 7 * 3_600_000;
const cityMidnight = (now: Date) => Math.floor((now.getTime() + cityOffsetMs) / dayMs) * dayMs - cityOffsetMs;

/** The last phone number is invalid on purpose: its appointment is reported and gets no reminder. */
const inventAppointments = (now: Date) =>
  Array.from({ length: 6 }, (_, row) => {
    const starts = new Date(cityMidnight(now) + dayMs + (8 + row) * 3_600_000);
    return {
      id: `JL-${new Date(starts.getTime() + cityOffsetMs).toISOString().slice(0, 10)}-${row + 1}`,
      name: nameOf(row),
      phone: row === 5 ? "0812-0000-1099" : phoneOf(row),
      service: pick(services, row),
      place: pick(places, row),
      starts_at: starts.toISOString(),
    };
  });

const inventTickets = (now: Date) =>
  Array.from({ length: 8 }, (_, row) => ({
    id: `${new Date(cityMidnight(now) + cityOffsetMs).toISOString().slice(0, 10)}-A${row + 1}`,
    number: `A-${String(row + 1).padStart(3, "0")}`,
    phone: phoneOf(20 + row),
    service: "Perekaman KTP elektronik",
    place: "Loket 3",
    taken_at: new Date(cityMidnight(now) + row * 60_000).toISOString(),
  }));

const inventDocuments = (now: Date) =>
  [
    ["SK-2026-0117", "Kartu keluarga", "Selesai", "Silakan ambil di Loket 5 dengan membawa KTP."],
    ["AK-2026-0042", "Akta kelahiran", "Sedang diverifikasi", null],
  ].map(([number, kind, status, next], row) => ({
    number,
    kind,
    status,
    next,
    name: nameOf(40 + row),
    phone: phoneOf(40 + row),
    changed_at: new Date(cityMidnight(now)).toISOString(),
  }));

/**
 * Stores invented front-office data as of today: tomorrow's appointments, a queue, documents, and an alert with a
 * number on call. The few rows keep the resulting messages readable.
 *
 * @param sql connection of the role `municipal_importer`.
 */
export const storeOffice = async (sql: postgres.Sql, now = new Date()): Promise<void> => {
  await sql`insert into office.appointment ${sql(inventAppointments(now))} on conflict do nothing`;
  await sql`insert into office.queue_ticket ${sql(inventTickets(now))} on conflict do nothing`;
  await sql`insert into office.document ${sql(inventDocuments(now))} on conflict do nothing`;
  await sql`insert into office.on_call values ('piket', ${phoneOf(90)}) on conflict do nothing`;
  await sql`
    insert into office.alert values ('contoh-1', 'Layanan contoh', 'Peringatan percobaan; tidak perlu tindakan.',
      ${new Date(cityMidnight(now)).toISOString()})
    on conflict do nothing`;
};
