import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "#lib/channels/whatsapp/connection.ts";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { ownVersion } from "#lib/channels/whatsapp/link/web-version.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { serveHttp } from "../../../infra/local/loopback.ts";
import { createScene, encryptionKey, openPaired, settingsOf } from "./linked-whatsapp.ts";

const listeners = {
  findPayload: async () => undefined,
  version: ownVersion,
  onQr: () => {},
  onPasskey: () => {},
  onReceipt: () => {},
  onInbound: async () => {},
  onLimits: () => {},
};

test("an HTTP error in place of the connection ends it, so that another is tried", async () => {
  const { sql } = await createScene();
  const edge = await serveHttp(createServer((_, response) => response.writeHead(503).end("busy")));
  onTestFinished(() => edge.stop());
  const auth = await openAuthState({ sql, encryption: encryptionWith(encryptionKey) });
  const settings = { url: edge.url.replace("http", "ws") };
  const connection = connect({ ...listeners, settings, lease: auth.acquire(), onOpen: () => {} });
  expect(await connection.ended).toMatchObject({ code: 500 });
});

test("a frame that cannot be decrypted closes the connection, not the process", async () => {
  const { sql, fake } = await createScene();
  await (await openPaired({ fake, sql })).stop();
  const auth = await openAuthState({ sql, encryption: encryptionWith(encryptionKey) });
  const opened = Promise.withResolvers<string>();
  const connection = connect({
    settings: settingsOf(fake),
    lease: auth.acquire(),
    ...listeners,
    onOpen: opened.resolve,
  });
  await opened.promise;
  connection.socket.ws.emit("message", Buffer.concat([Buffer.of(0, 0, 40), randomBytes(40)]));
  expect(await connection.ended).toMatchObject({ code: expect.any(Number) });
  await fake.until(() => fake.sockets.open === 0);
});
