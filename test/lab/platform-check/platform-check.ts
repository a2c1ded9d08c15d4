import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toString as draw } from "qrcode";
import { findSetting } from "#lib/config.ts";
import { explainPhone, isPhone } from "#lib/messaging/phone.ts";
import { command, exitCodes, readWhole, WrongCall } from "../../../infra/cli/command.ts";
import { startDatabase } from "../../../infra/local/database.ts";
import { removeData } from "../../../infra/local/postgres/installation.ts";
import { openStore } from "../../../infra/local/secrets/store.ts";
import { checkPlatform } from "./check.ts";
import { formatTable } from "./rows.ts";

const readPhone = (option: string) => (phone: string) => {
  if (isPhone(phone)) return phone;
  throw new WrongCall(`${option}: ${explainPhone(phone)}`);
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

const about = `Link this machine to a real WhatsApp account, send one text, one image and one file to your own number, wait for their
receipts, unlink, and print what was expected and seen. Needs two phones: one to link, and one with your own number.
Nothing is sent to another number, and nothing to yours before you have written from it to the linked account.

The keys of the link are deleted when the check ends. If it was killed, remove the device on the phone: WhatsApp → Linked
devices.`;

export const run = command("lab -- platform-check", about, (program, answer, print) => {
  program
    .requiredOption(
      "--number <number>",
      "your own number, with country code: 6281234567890",
      readPhone("--number"),
    )
    .option(
      "--account <number>",
      "number of the account to link; shows a pairing code in place of the QR code",
      readPhone("--account"),
    )
    .option(
      "--timeout <seconds>",
      "time to link, to write, and for the receipts",
      readWhole("--timeout", 1, 9_999),
      120,
    )
    .option("--url <url>", "WebSocket address of a simulation of WhatsApp, instead of the real one")
    .option("--version-url <url>", "the page that names the current version, in place of WhatsApp's")
    .option("--root-key <base64>", "the key that signs the simulation's certificate")
    .option("--media-ca <file>", "certificate authority of the simulation's media servers, in PEM")
    .action(
      answer(async ({ number, account, timeout, url, versionUrl, rootKey, mediaCa }) => {
        const interrupted = new AbortController();
        const interrupt = () => interrupted.abort();
        process.once("SIGINT", interrupt);
        print("Starting a temporary database for the keys …");
        const rows = await withDatabase((sql) =>
          checkPlatform({
            sql,
            settings: {
              ...(url && { url }),
              versionUrl: versionUrl ?? findSetting("PLATFORM_VERSION_URL"),
              ...(rootKey && { rootKey: Buffer.from(rootKey, "base64") }),
              ...(mediaCa && { mediaCa: readFileSync(mediaCa, "utf8") }),
            },
            number,
            account,
            timeoutMs: timeout * 1_000,
            signal: interrupted.signal,
            onQr: async (qr) => {
              const code = await draw(qr, { type: "terminal", small: true, errorCorrectionLevel: "L" });
              print(`${code}\nScan it: WhatsApp → Linked devices → Link a device`);
            },
            onPairingCode: (code) =>
              print(
                `Type ${code}: WhatsApp → Linked devices → Link a device → Link with phone number instead`,
              ),
            onWrite: () => print("Linked. Now write any message from your own number to the linked account."),
          }),
        ).finally(() => process.off("SIGINT", interrupt));
        const passed = rows.every(({ outcome }) => outcome === "passed");
        const code = passed ? exitCodes.done : exitCodes.partly;
        return { text: `\n${formatTable(rows)}`, json: { rows }, code };
      }),
    );
});
