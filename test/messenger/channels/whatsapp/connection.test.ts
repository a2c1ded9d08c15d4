import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openAuthState } from "#lib/messenger/channels/whatsapp/auth-state.ts";
import { connect } from "#lib/messenger/channels/whatsapp/connection.ts";
import { ownVersion } from "#lib/messenger/channels/whatsapp/web-version.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { createScene, encryptionKey, openPaired, settingsOf } from "./linked-whatsapp.ts";

test("a frame that cannot be decrypted closes the connection, not the process", async () => {
  const { sql, fake } = await createScene();
  await (await openPaired({ fake, sql })).stop();
  const auth = await openAuthState({ sql, encryption: encryptionWith(encryptionKey) });
  const opened = Promise.withResolvers<string>();
  const connection = connect({
    settings: settingsOf(fake),
    lease: auth.acquire(),
    findPayload: async () => undefined,
    version: ownVersion,
    onQr: () => {},
    onPasskey: () => {},
    onOpen: opened.resolve,
    onReceipt: () => {},
    onLimits: () => {},
  });
  await opened.promise;
  connection.socket.ws.emit("message", Buffer.concat([Buffer.of(0, 0, 40), randomBytes(40)]));
  expect(await connection.ended).toMatchObject({ code: expect.any(Number) });
  await fake.until(() => fake.sockets.open === 0);
});
