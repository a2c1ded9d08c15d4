/**
 * A client in a process of its own, to be killed: pairs through the control server unless its folder has a
 * session, logs in, sends one text, and says so. Arguments: control address, folder, recipient, text.
 */
import { DisconnectReason, makeWASocket, useMultiFileAuthState, WA_CERT_DETAILS } from "baileys";
import { muteLibsignal } from "#lib/channels/whatsapp/library-log.ts";
import { silent } from "../../../infra/local/whatsapp/keys.ts";

muteLibsignal();
const [controlUrl = "", folder = "", recipient = "", text = ""] = process.argv.slice(2);
const { url, rootKey } = (await (await fetch(controlUrl)).json()) as { url: string; rootKey: string };
WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, "base64");

const run = async () => {
  const { state, saveCreds } = await useMultiFileAuthState(folder);
  const socket = makeWASocket({ auth: state, waWebSocketUrl: url, logger: silent });
  socket.ev.on("creds.update", saveCreds);
  socket.ev.on("connection.update", async ({ qr, connection, lastDisconnect }) => {
    if (qr) await fetch(`${controlUrl}/scan`, { method: "POST", body: JSON.stringify({ qr }) });
    const fault = lastDisconnect?.error as { output?: { statusCode: number } } | undefined;
    if (fault?.output?.statusCode === DisconnectReason.restartRequired) await run();
    if (connection !== "open") return;
    await socket.sendMessage(`${recipient}@s.whatsapp.net`, { text });
    process.stdout.write("sent\n");
  });
};
await run();
