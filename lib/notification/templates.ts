import * as z from "zod/mini";
import { type Template, template } from "./template.ts";
import { address, clock, code, count, day, words } from "./value.ts";

/** Quiet hours for messages that are not urgent, in the city's time. */
export const night = { from: "20:00", to: "07:00" };

/** Replies arrive on the city's phone; its operator records them with `npm run city -- notify opt-out`. */
const optOutHint = "_Balas BERHENTI bila tidak ingin menerima pesan seperti ini._";

/** All templates, by the name used in jobs, events and commands. */
export const templates = {
  /** A one-time code, for a login or a signature. */
  "one-time-code": template({
    class: "one-time-code",
    expiresInMinutes: 5,
    values: z.object({ code, purpose: words(60) }),
    text: ({ code, purpose }) =>
      `Kode verifikasi untuk ${purpose}: *${code}*\n\nBerlaku 5 menit. Jangan berikan kode ini kepada siapa pun, termasuk petugas.`,
  }),
  /** A document such as a receipt, as a file. */
  proof: template({
    class: "transactional",
    expiresInMinutes: 24 * 60,
    values: z.object({
      name: words(60),
      document: words(80),
      number: words(40),
      url: address,
      file_name: words(120),
    }),
    text: ({ name, document, number }) =>
      `Yth. ${name},\n\nterlampir ${document} nomor *${number}*. Simpan berkas ini sebagai bukti.`,
    file: ({ url, file_name }) => ({ url, name: file_name }),
  }),
  /** An application has a new status. */
  "status-change": template({
    class: "transactional",
    expiresInMinutes: 23 * 60,
    quietHours: night,
    values: z.object({
      name: words(60),
      document: words(80),
      number: words(40),
      status: words(60),
      next: z.optional(words(160)),
    }),
    text: ({ name, document, number, status, next }) =>
      `Yth. ${name},\n\nstatus permohonan ${document} nomor ${number}: *${status}*.${next ? `\n${next}` : ""}`,
  }),
  /** A system failure, for the numbers on call. */
  "system-alert": template({
    class: "transactional",
    expiresInMinutes: 60,
    values: z.object({ system: words(60), summary: words(200), since: clock }),
    text: ({ system, summary, since }) => `⚠️ *${system}*\n${summary}\nSejak pukul ${since}.`,
  }),
  /** The number of people ahead in a queue. */
  "queue-ticket": template({
    class: "transactional",
    expiresInMinutes: 10,
    values: z.object({ number: words(12), service: words(60), place: words(60), ahead: count }),
    text: ({ number, service, place, ahead }) =>
      ahead === 0
        ? `Nomor antrean *${number}* (${service}): Anda berikutnya. Silakan menuju ${place}.`
        : `Nomor antrean *${number}* (${service}): *${ahead}* orang lagi di depan Anda. Mohon bersiap di sekitar ${place}.`,
  }),
  /** An appointment at an office. */
  "appointment-reminder": template({
    class: "reminder",
    expiresInMinutes: 12 * 60,
    quietHours: night,
    values: z.object({ name: words(60), service: words(80), place: words(80), date: day, time: clock }),
    text: ({ name, service, place, date, time }) =>
      `Yth. ${name},\n\nkami ingatkan janji layanan Anda:\n*${service}*\n${date}, pukul ${time}\n${place}\n\nMohon datang 10 menit lebih awal dan membawa KTP.\n${optOutHint}`,
  }),
  /** Any other reminder: the text comes from the audience. */
  reminder: template({
    class: "reminder",
    expiresInMinutes: 12 * 60,
    quietHours: night,
    values: z.object({ name: words(60), subject: words(80), details: words(400) }),
    text: ({ name, subject, details }) => `Yth. ${name},\n\n*${subject}*\n${details}\n\n${optOutHint}`,
  }),
} as const;

export type TemplateName = keyof typeof templates;

/** Erases the type of the values: `render` validates them. */
export const getTemplate = (name: TemplateName): Template => templates[name] as unknown as Template;

export const findTemplate = (name: string): Template | undefined =>
  Object.hasOwn(templates, name) ? getTemplate(name as TemplateName) : undefined;
