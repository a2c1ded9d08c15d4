import { text } from "node:stream/consumers";
import type { BulkDesk } from "#lib/console/bulk-state.ts";
import { ago } from "./console-state.ts";

const fakeVersion = {
  ...{ name: "vaccination", version: 1, text: "Yth. {{name}}: vaksinasi {{date}}." },
  class: "bulk" as const,
  ...{ parameters: { name: "words:60", date: "day" }, createdAt: ago(4_000) },
};

/** The page of bulk notifications over a desk in memory. What is done is in `calls`. */
export const openFakeDesk = (calls: string[]): BulkDesk => ({
  read: async () => ({
    choices: [
      ...Object.entries({
        reminder: ["phone", "name", "subject", "details"],
        vaccination: ["phone", "name", "date"],
      }).map(([name, columns]) => ({ name, columns, example: columns.map(() => "x") })),
    ],
    runs: [
      {
        ...{ id: "4f0c9a6e-0d5b-4a52-9d0e-1b7f5a2c8e03", job: "bulk:vaccination-march", lines: 3_013 },
        ...{ bulk: "vaccination-march", template: "vaccination", scheduledAt: ago(90_000) },
        ...{ startedAt: ago(90_000), changedAt: ago(90_000) },
        state: "done",
        ...{ reason: null, accepted: 3_000, opted_out: 12, refused: 1, expired: 0, isInterrupted: false },
        messages: { PENDING: 1_480, SENT: 20, DELIVERED: 1_500 },
      },
      {
        ...{ id: "4f0c9a6e-0d5b-4a52-9d0e-1b7f5a2c8e04", job: "bulk:tax-2030", lines: 12_000 },
        ...{ bulk: "tax-2030", template: "reminder", scheduledAt: ago(600) },
        ...{ startedAt: ago(600), changedAt: ago(600) },
        state: "running",
        ...{ reason: null, accepted: 4_200, opted_out: 31, refused: 0, expired: 0, isInterrupted: true },
        messages: { PENDING: 4_200 },
      },
    ],
    versions: [
      {
        ...fakeVersion,
        status: "draft",
        ...{ author: "sari", version: 2, approver: null },
      },
      {
        ...fakeVersion,
        status: "approved",
        ...{ author: "budi", approver: "sari" },
      },
    ],
  }),
  preview: async (file, { template, name }) => {
    calls.push(`preview ${template} ${(await text(file)).length}`);
    return {
      ...{
        name: name ?? `${template}-0123456789ab`,
        days: 3,
        fingerprint: "f".repeat(32),
        ignored: ["note"],
      },
      countries: [
        { country: "62", region: "ID", count: 8 },
        { country: "65", region: "SG", count: 1 },
      ],
      counts: {
        ...{ "would be sent": 9, "sent before": 0, "opted out": 1 },
        ...{ "invalid number": 1, duplicate: 0, "invalid values": 0 },
      },
      messages: [2, 3, 4].map((line) => ({
        ...{ line, phone: `6281•••••••0${line}`, text: "Yth. S•••,\n\n*Pajak*\nJatuh tempo 30 September." },
      })),
      rejected: [
        {
          ...{ line: 11, phone: "•••••••" },
          outcome: "invalid number",
          reason: "phone must be a number with country code",
        },
      ],
    };
  },
  start: async (file, { template, name = `${template}-0123456789ab` }, fingerprint) => {
    calls.push(`start ${name} ${(await text(file)).length} ${fingerprint}`);
    return name;
  },
  report: async (name) => (name === "tax-2030" ? "line,file,phone,state,reason,time\n" : undefined),
  addTemplate: async ({ name }, { id }) => calls.push(`add ${name} by ${id}`),
  approveTemplate: async (name, version, { id }) => {
    calls.push(`approve ${name} ${version} by ${id}`);
  },
  retireTemplate: async (name, version) => {
    calls.push(`retire ${name} ${version}`);
  },
});
