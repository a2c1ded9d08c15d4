import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateMessageIDV2 } from "baileys";
import * as esbuild from "esbuild";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod/mini";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import type { Composition } from "#lib/channels/whatsapp/message/composition.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { correctLibraries } from "../../infra/build/corrections.ts";
import {
  citizen,
  createScene,
  encryptionKey,
  linkWhatsApp,
  never,
  openPaired,
  ownNumber,
  type Scene,
  settingsOf,
  untilState,
} from "../channels/whatsapp/linked-whatsapp.ts";
import type { Assignment } from "./messenger-process.ts";

const SessionRecord = z.object({
  _sessions: z.record(
    z.string(),
    z.object({
      indexInfo: z.object({ closed: z.number() }),
      _chains: z.record(
        z.string(),
        z.object({ chainType: z.number(), chainKey: z.object({ counter: z.number() }) }),
      ),
    }),
  ),
});

const source = fileURLToPath(new URL("messenger-process.ts", import.meta.url));

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

const text = (words: string): Composition => ({
  id: generateMessageIDV2(),
  phone: citizen,
  kind: "text",
  text: words,
});

/** Runs a WhatsApp connection in another process, on the test's database. */
const run = (file: string, messages: readonly Composition[], crashes: boolean) => {
  const { rootKey = Buffer.alloc(0), ...settings } = settingsOf(scene.fake);
  const assignment: Assignment = {
    databaseUrl: scene.url,
    encryptionKey,
    settings: { ...settings, rootKey: Buffer.from(rootKey).toString("base64") },
    messages,
    crashes,
  };
  const child = spawn(process.execPath, [file, JSON.stringify(assignment)]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece: string) => {
      output.text += piece;
    });
  return { child, output, exit: once(child, "exit") };
};

const pairAndSend = async (words: string) => {
  const platform = await openPaired(scene);
  await platform.send(await platform.compose(text(words), never), never);
  await platform.stop();
};

/** Counts the messages encrypted in the open Signal session with the citizen's phone, according to the database. */
const countEncrypted = async (): Promise<number> => {
  const rows = await scene.sql<{ id: string }[]>`select id from messaging.auth_key where type = 'session'`;
  const { state } = (
    await openAuthState({ sql: scene.sql, encryption: encryptionWith(encryptionKey) })
  ).acquire();
  const { lid } = scene.fake.phone(citizen);
  const ids = rows.map(({ id }) => id).filter((id) => id.startsWith(lid));
  const [record] = Object.values(await state.keys.get("session", ids));
  const { _sessions } = z.parse(SessionRecord, record);
  const open = Object.values(_sessions).find(({ indexInfo }) => indexInfo.closed === -1);
  // the counter starts at -1; libsignal marks the sending chain with 1
  const sending = Object.values(open?._chains ?? {}).find(({ chainType }) => chainType === 1);
  return (sending?.chainKey.counter ?? -1) + 1;
};

test("after a crash while a message leaves, the next messages can be decrypted", async () => {
  await pairAndSend("one");
  const { exit } = run(source, [text("two")], true);
  expect(await exit).toEqual([null, "SIGKILL"]);
  await scene.fake.until(() => scene.fake.phone(citizen).inbox.length === 2);
  // the phone has decrypted messages with the first two keys, so both must be stored as used
  expect(await countEncrypted()).toBe(2);

  const next = await linkWhatsApp(scene);
  next.start();
  await untilState(next, "open");
  for (const words of ["three", "four"]) await next.send(await next.compose(text(words), never), never);
  expect(scene.fake.phone(citizen).inbox.map((received) => received.text)).toEqual([
    "one",
    "two",
    "three",
    "four",
  ]);
  expect(scene.fake.phone(citizen).failures).toEqual([]);
});

describe("the process prints no key, number or text", () => {
  const words = "Kode rahasia Anda 493817";

  /** Provokes the output of libsignal: Signal sessions that are closed, reopened and cannot be decrypted. */
  const provoke = async (file: string) => {
    await pairAndSend("one");
    const message = text(words);
    const { child, output, exit } = run(file, [message], false);
    await expect.poll(() => output.text).toContain("done\n");
    // baileys counts each resend twice, so its limit of five allows two
    for (let times = 2; times < 4; times++) {
      await scene.fake.askAgain(message.id);
      await scene.fake.until(() => scene.fake.arrivalsOf(message.id) === times);
    }
    const { logins } = scene.fake.sockets;
    scene.fake.disconnect("drop");
    await scene.fake.until(() => scene.fake.sockets.logins > logins);
    child.kill("SIGTERM");
    expect(await exit).toEqual([0, null]);
    return output.text;
  };

  const expectClean = (output: string) => {
    const own = output.split("\n").filter((line) => line !== "done" && line !== "");
    for (const line of own) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) });
    const secrets = [words, "493817", citizen, ownNumber, "Buffer", "chain", "privKey", "Closing session"];
    for (const secret of secrets) expect(output).not.toContain(secret);
    expect(output).not.toMatch(/[\w+/]{40,}/); // no key in base64 or hex
  };

  test("when it runs from the sources", async () => {
    expectClean(await provoke(source));
  });

  test("when it runs from a bundle without libsignal's console calls", async () => {
    const folder = mkdtempSync(join(tmpdir(), "messenger-bundle-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const outfile = join(folder, "messenger.mjs");
    await esbuild.build({
      entryPoints: [source],
      outfile,
      bundle: true,
      platform: "node",
      target: "node24",
      format: "esm",
      external: ["jimp", "sharp", "link-preview-js", "audio-decode"],
      banner: {
        js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
      },
      plugins: [correctLibraries],
      logLevel: "silent",
    });
    expectClean(await provoke(outfile));
  });
});
