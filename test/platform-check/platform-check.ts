import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toString as draw } from "qrcode";
import { explainPhone, isPhone } from "#lib/messaging/phone.ts";
import { CommandError, command, rejectExtra, runCommand } from "../../infra/commands/command.ts";
import { startDatabase } from "../../infra/local/database.ts";
import { removeData } from "../../infra/local/postgres/place.ts";
import { openStore } from "../../infra/local/secrets/store.ts";
import { checkPlatform } from "./check.ts";
import { formatTable } from "./rows.ts";

const usage = `Usage: npm run platform-check -- --number NUMBER [options]

Links this machine to a real WhatsApp account, sends one text, one image and one file to your own number, waits for their
receipts, unlinks, and prints what was expected and seen. Needs two phones: one to link, and one with your own number.
Nothing is sent to another number, and nothing to yours before you have written from it to the linked account.

  --number NUMBER    your own number, with country code: 6281234567890
  --account NUMBER   number of the account to link; shows a pairing code in place of the QR code
  --timeout SECONDS  time to link, to write, and for the receipts (default: 120)

For a simulation of WhatsApp instead of the real one:
  --url URL          its WebSocket address
  --root-key BASE64  the key that signs its certificate
  --media-ca FILE    certificate authority of its media servers, in PEM

The keys of the link are deleted when the check ends. If it was killed, remove the device on the phone: WhatsApp → Linked devices.
Exit code: 0 everything as expected, 1 otherwise.`;

const options = {
  number: { type: "string" },
  account: { type: "string" },
  timeout: { type: "string", default: "120" },
  url: { type: "string" },
  "root-key": { type: "string" },
  "media-ca": { type: "string" },
} as const;

const readPhone = (phone: string | undefined, option: string): string => {
  if (phone !== undefined && isPhone(phone)) return phone;
  throw new CommandError(`${option}: ${explainPhone(phone)}`);
};

const readTimeoutMs = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text) * 1_000;
  throw new CommandError(`--timeout must be a whole number of seconds from 1 to 9999, not ${text}`);
};

/** Runs with a messenger database that exists only meanwhile. */
const withDatabase = async <T>(work: (sql: ReturnType<typeof connect>) => Promise<T>): Promise<T> => {
  const folder = join(mkdtempSync(join(tmpdir(), "platform-check-")), "postgres");
  const database = await startDatabase(folder, openStore(undefined), false);
  const sql = connect(database);
  try {
    return await work(sql);
  } finally {
    await sql.end();
    await database.server.stop();
    removeData(folder);
  }
};
const connect = ({ connectAs }: Awaited<ReturnType<typeof startDatabase>>) => connectAs("messenger");

export const run = command(usage, options, async ({ values, positionals }) => {
  rejectExtra(positionals);
  const number = readPhone(values.number, "--number");
  const account = values.account === undefined ? undefined : readPhone(values.account, "--account");
  const timeoutMs = readTimeoutMs(values.timeout);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once("SIGINT", interrupt);
  console.log("Starting a temporary database for the keys …");
  const rows = await withDatabase((sql) =>
    checkPlatform({
      sql,
      settings: {
        ...(values.url && { url: values.url }),
        ...(values["root-key"] && { rootKey: Buffer.from(values["root-key"], "base64") }),
        ...(values["media-ca"] && { mediaCa: readFileSync(values["media-ca"], "utf8") }),
      },
      number,
      account,
      timeoutMs,
      signal: interrupted.signal,
      onQr: async (qr) => {
        const code = await draw(qr, { type: "terminal", small: true, errorCorrectionLevel: "L" });
        console.log(`${code}\nScan it: WhatsApp → Linked devices → Link a device`);
      },
      onPairingCode: (code) =>
        console.log(
          `Type ${code}: WhatsApp → Linked devices → Link a device → Link with phone number instead`,
        ),
      onWrite: () => console.log("Linked. Now write any message from your own number to the linked account."),
    }),
  ).finally(() => process.off("SIGINT", interrupt));
  console.log(`\n${formatTable(rows)}`);
  return rows.every(({ outcome }) => outcome === "passed") ? 0 : 1;
});

if (import.meta.main) await runCommand(run);
