import { randomBytes, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createCertificate } from "../../../infra/local/whatsapp/media/certificate.ts";
import type { Platform } from "../../../infra/local/whatsapp/platform.ts";
import {
  awaitClose,
  awaitUpdate,
  citizen,
  connect,
  createState,
  logIn,
  runPaired,
  runPlatform,
} from "./whatsapp-client.ts";

const jid = `${citizen}@s.whatsapp.net`;

/** Sends requests like another process. */
const ask = async ({ controlUrl }: Platform, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${controlUrl}${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const isJson = response.headers.get("content-type") === "application/json" && response.status !== 204;
  return { status: response.status, body: isJson ? await response.json() : await response.arrayBuffer() };
};

describe("the control server", () => {
  test("returns what a client needs to connect", async () => {
    const platform = await runPlatform();
    const { body } = await ask(platform, "GET", "/");
    const { url, rootKey, mediaCa } = platform;
    expect(body).toEqual({
      url,
      rootKey: rootKey.toString("base64"),
      mediaCa,
      account: platform.account.number,
    });
  });

  test("pairs by QR code and by code", async () => {
    const platform = await runPlatform();
    const state = createState();
    const first = connect(platform, state);
    const closed = awaitClose(first);
    const { qr } = await awaitUpdate(first, (update) => update.qr !== undefined);
    expect(await ask(platform, "POST", "/scan", { qr })).toMatchObject({ status: 200 });
    await closed;
    const second = connect(platform, createState());
    await awaitUpdate(second, (update) => update.qr !== undefined);
    const code = await second.requestPairingCode(platform.account.number);
    await platform.until(() => platform.codeAwaited);
    expect(await ask(platform, "POST", "/code", { code })).toMatchObject({
      body: { device: `${platform.account.number}:2@s.whatsapp.net` },
    });
  });

  test("shows a phone's messages, waits for them, and returns their media", async () => {
    const { platform, socket } = await runPaired();
    const file = randomBytes(1_000);
    const waiting = ask(platform, "GET", `/phones/${citizen}?messages=1`);
    await socket.sendMessage(jid, { document: file, mimetype: "application/pdf", fileName: "a.pdf" });
    const { body } = await waiting;
    expect(body).toMatchObject({
      number: citizen,
      failures: [],
      inbox: [
        {
          type: "documentMessage",
          arrivals: 1,
          message: { documentMessage: { fileName: "a.pdf" } },
          media: { lengthBytes: 1_000, url: expect.stringMatching(/^\/phones\//) },
        },
      ],
    });
    const [{ id, media }] = (body as { inbox: [{ id: string; media: { url: string } }] }).inbox;
    const bytes = await ask(platform, "GET", media.url);
    expect(Buffer.from(bytes.body as ArrayBuffer).equals(file)).toBe(true);
    expect(await ask(platform, "GET", `/messages/${id}`)).toMatchObject({ body: { arrivals: 1 } });
  });

  test("configures the platform's behaviour, and rejects unknown settings", async () => {
    const { platform } = await runPaired();
    const behaviour = { nack: { code: 463 }, receipts: ["read"] };
    expect(await ask(platform, "PUT", "/behaviour", behaviour)).toMatchObject({ body: behaviour });
    expect(platform.behaviour).toMatchObject(behaviour);
    expect(await ask(platform, "PUT", "/behaviour", { ackDelay: 1 })).toMatchObject({ status: 400 });
    expect(await ask(platform, "PUT", "/behaviour", {})).toMatchObject({ body: { ack: true } });
    expect(platform.behaviour.nack).toBeUndefined();
    expect(await ask(platform, "GET", "/nowhere")).toMatchObject({ status: 404 });
  });

  test("disconnects, goes down and comes back", async () => {
    const { platform, state, socket } = await runPaired();
    const closed = awaitClose(socket);
    expect(await ask(platform, "POST", "/disconnect", { reason: 515 })).toMatchObject({ status: 204 });
    expect(await closed).toBe(515);
    await ask(platform, "POST", "/leave", {});
    await awaitClose(connect(platform, state));
    await ask(platform, "POST", "/come-back");
    await logIn(platform, state);
    expect(await ask(platform, "GET", "/sockets")).toMatchObject({
      body: { open: 1, loggedIn: 1, mostLoggedIn: 1, everOpened: 3, refused: 1 },
    });
    expect(await ask(platform, "GET", "/faults")).toMatchObject({ body: [] });
  });

  test("registers and removes numbers", async () => {
    const platform = await runPlatform();
    expect(await ask(platform, "GET", "/phones/6285000000000")).toMatchObject({ status: 400 });
    expect(await ask(platform, "PUT", "/phones/6285000000000")).toMatchObject({ status: 200 });
    expect(await ask(platform, "GET", "/phones")).toMatchObject({
      body: [{ number: citizen }, { number: "6285000000000" }],
    });
    await ask(platform, "DELETE", "/phones/6285000000000");
    expect(() => platform.phone("6285000000000")).toThrow("no account");
    expect(await ask(platform, "PUT", "/phones/abc")).toMatchObject({ status: 400 });
  });
});

test("the certificate is self-signed, and valid for loopback only", () => {
  const certificate = new X509Certificate(createCertificate().cert);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.ca).toBe(true);
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(certificate.checkHost("localhost")).toBe("localhost");
  expect(certificate.checkIP("10.0.0.1")).toBeUndefined();
});
