import { findSetting } from "#lib/config.ts";
import { languages, sayIfKnown } from "#lib/console/words.ts";
import { type Html, html } from "#lib/html.ts";
import { isApiSender, usernameOf } from "#lib/messaging/submission.ts";
import type { Report, ReportedAct, ReportedRead } from "#lib/resident/subject.ts";
import { abbreviateZone } from "#lib/time-zone.ts";

/** Columns in the words of the citizen, in the order of the page. */
const columns: Readonly<Record<string, string>> = {
  nik: "NIK",
  name: "Nama",
  family_card_number: "Nomor kartu keluarga",
  mother_name: "Nama ibu",
  address: "Alamat",
  hamlet: "Dusun atau lingkungan",
  village: "Desa atau kelurahan",
  district: "Kecamatan",
  city: "Kabupaten atau kota",
  created_at: "Tercatat sejak",
};

const routes: Readonly<Record<ReportedRead["route"], string>> = {
  list: "Dilihat dalam daftar",
  search: "Dicari",
  verify: "Dicocokkan",
};

const acts: Readonly<Record<ReportedAct["act"], string>> = {
  report: "Laporan dibuat",
  correct: "Data diperbaiki",
  restrict: "Akses dibatasi",
  lift: "Pembatasan dicabut",
  erase: "Data dihapus",
  readmit: "Penghapusan dicabut",
};

const states: Readonly<Record<Report["state"], string>> = {
  stored: "Data Anda tersimpan.",
  restricted:
    "Data Anda tersimpan, tetapi aksesnya dibatasi: tidak ada instansi mitra yang dapat melihatnya.",
  left: "Data Anda tersimpan, tetapi tidak ada lagi dalam data kependudukan: tidak ada instansi mitra yang dapat melihatnya.",
  erased: "Data Anda telah dihapus.",
  unknown: "Tidak ada data yang tersimpan dengan NIK Anda.",
};

const sayTime = (time: string | null): string => {
  if (time === null) return "–";
  const timeZone = findSetting("TIME_ZONE");
  const clock = new Intl.DateTimeFormat("id-ID", { dateStyle: "long", timeStyle: "short", timeZone });
  return `${clock.format(new Date(time))} ${abbreviateZone(timeZone)}`;
};

const table = (
  header: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
  empty: string,
): Html =>
  rows.length === 0
    ? html`<p>${empty}</p>`
    : html`<div class="wide"><table><thead><tr>${header.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
        (row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
      )}</tbody></table></div>`;

const answersOf = ({ answers }: ReportedRead): string =>
  Object.entries(answers ?? {})
    .map(([column, isMatch]) => `${columns[column] ?? column}: ${isMatch ? "cocok" : "tidak cocok"}`)
    .join("; ");

/** A time is local, and has microseconds. */
const sayValue = (column: string, value: string): string =>
  column === "created_at" ? value.slice(0, 16).replace("T", " ") : value;

const stored = (resident: NonNullable<Report["resident"]>): Html =>
  html`<table>${Object.entries(columns).map(
    ([
      column,
      title,
    ]) => html`<tr><th scope="row">${title}</th><td>${sayValue(column, String(resident[column] ?? "–"))}</td></tr>
`,
  )}</table>`;

const wordOf = (state: string): string => sayIfKnown(languages.id, `messages.states.${state}`) ?? state;

const numberSection = ({ messages, knownSince, optedOutSince }: NonNullable<Report["number"]>): Html => html`
<h2>Pesan ke nomor telepon Anda</h2>
<p>${
  optedOutSince === null
    ? "Nomor Anda menerima pesan pengingat."
    : `Nomor Anda tidak menerima pesan pengingat sejak ${sayTime(optedOutSince)}.`
} ${
  knownSince === null
    ? "Akun pengirim kota tidak mengenal nomor Anda."
    : `Akun pengirim kota mengenal nomor Anda sejak ${sayTime(knownSince)}; catatan ini dihapus 24 bulan setelah pesan terakhir.`
} Isi pesan tidak dicantumkan di sini.</p>
${table(
  ["Diterima sistem", "Dikirim", "Status", "Pengirim"],
  messages.map((one) => [
    sayTime(one.acceptedAt),
    sayTime(one.sentAt),
    wordOf(one.state),
    one.job ?? (isApiSender(one.sender) ? `sistem ${usernameOf(one.sender)}` : "pemerintah kota"),
  ]),
  "Tidak ada pesan dalam 30 hari terakhir.",
)}`;

// landscape would waste the page of the citizen's data; a row of a table is not cut; on a phone a wide table scrolls alone
const style = `
body { font: 11pt/1.45 system-ui, sans-serif; color: #111; background: #fff; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .25rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { border: 1px solid #999; padding: .3rem .5rem; text-align: left; vertical-align: top; overflow-wrap: break-word; }
th { background: #eee; } th[scope="row"] { width: 16rem; max-width: 40vw; } .wide { overflow-x: auto; } tr { break-inside: avoid; } thead { display: table-header-group; } h2 { break-after: avoid; }
@page { size: A4; margin: 18mm; }
@media print { body { margin: 0; padding: 0; max-width: none; font-size: 9.5pt; } .wide { overflow: visible; } th { background: none; } }
`;

/** The report as a page in Indonesian that can be printed for the citizen. It loads nothing. */
export const reportPage = (report: Report, now: Date): Html => html`<!doctype html>
<html lang="id">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Laporan data pribadi</title>
<style>${style}</style>
</head>
<body>
<h1>Laporan data pribadi</h1>
<p>Dibuat ${sayTime(now.toISOString())}, atas permintaan Anda menurut Undang-Undang Nomor 27 Tahun 2022 tentang Pelindungan Data Pribadi.</p>
<h2>Data yang tersimpan</h2>
<p>${states[report.state]}${report.since === null ? "" : ` Sejak ${sayTime(report.since)}.`}</p>
${report.resident ? stored(report.resident) : ""}
<h2>Siapa yang membaca data Anda</h2>
<p>Instansi mitra hanya melihat data yang disamarkan. Saat data dicocokkan, instansi hanya menerima jawaban cocok atau tidak cocok.</p>
${table(
  ["Waktu", "Instansi", "Cara", "Tujuan", "Perkara", "Jawaban"],
  report.reads.map((read) => [
    sayTime(read.at),
    read.partner,
    routes[read.route],
    read.purpose ?? "–",
    read.case ?? "–",
    answersOf(read) || "–",
  ]),
  "Tidak ada yang membaca data Anda.",
)}
<h2>Tindakan atas permintaan Anda</h2>
${table(
  ["Waktu", "Tindakan", "Alasan", "Perkara"],
  report.acts.map((one) => [sayTime(one.at), acts[one.act], one.reason, one.case ?? "–"]),
  "Belum ada tindakan sebelum laporan ini.",
)}
${report.hasMore ? html`<p>Ada pembacaan yang lebih lama. Mintalah laporan lengkap kepada petugas.</p>` : ""}
${report.number ? numberSection(report.number) : ""}
</body>
</html>
`;
