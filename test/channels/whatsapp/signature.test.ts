import { randomBytes } from "node:crypto";
import { Curve } from "baileys";
import { expect, test } from "vitest";
import { verifySignature } from "#lib/channels/whatsapp/library-log.ts";

test("accepts the key's signature, in both formats of the key", () => {
  for (let i = 0; i < 20; i++) {
    const pair = Curve.generateKeyPair();
    const message = randomBytes(i * 7);
    if (message.length === 0) continue; // libsignal signs nothing empty
    const signature = Curve.sign(pair.private, message);
    expect(verifySignature(pair.public, message, signature)).toBe(true);
    expect(verifySignature(Buffer.concat([Buffer.of(5), pair.public]), message, signature)).toBe(true);
  }
});

test("rejects signatures of another key or message, changed and invented ones", () => {
  const pair = Curve.generateKeyPair();
  const message = randomBytes(40);
  const signature = Curve.sign(pair.private, message);
  expect(verifySignature(Curve.generateKeyPair().public, message, signature)).toBe(false);
  expect(verifySignature(pair.public, randomBytes(40), signature)).toBe(false);
  for (let bit = 0; bit < 512; bit++) {
    const changed = Buffer.from(signature);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(verifySignature(pair.public, message, changed)).toBe(false);
  }
  for (const length of [0, 63, 64, 65])
    expect(verifySignature(pair.public, message, randomBytes(length))).toBe(false);
  for (const key of [Buffer.alloc(0), Buffer.alloc(32), Buffer.alloc(32, 0xff), randomBytes(33)])
    expect(verifySignature(key, message, signature)).toBe(false);
});
