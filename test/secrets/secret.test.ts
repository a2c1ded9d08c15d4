import { beforeEach, expect, inject, test, vi } from "vitest";
import * as z from "zod/mini";

const Shape = z.object({ password: z.string() });

beforeEach(() => {
  vi.resetModules();
  vi.unstubAllEnvs();
  for (const [name, value] of Object.entries(inject("city").variables["tourism/categories"] ?? {}))
    vi.stubEnv(name, value);
});

const read = async (id: string) => (await import("#lib/secrets/secret.ts")).readSecret(id, Shape);

test("reads the fields of the schema", async () =>
  expect(await read("municipal/local/database/tourism")).toEqual({ password: expect.stringMatching(/./) }));

test("names a missing secret", async () =>
  await expect(read("municipal/local/none")).rejects.toThrow("secret municipal/local/none cannot be read"));

test("names the secret and the wrong field, never its content", async () => {
  const error = await read("municipal/local/audit-pepper").catch((reason) => reason);
  expect(error.message).toBe(
    "secret municipal/local/audit-pepper has another shape than expected at password",
  );
});

test("names a missing setting, and one with a wrong value", async () => {
  vi.stubEnv("AWS_REGION", undefined);
  await expect(read("x")).rejects.toThrow("environment variable AWS_REGION is not set");
  vi.resetModules();
  vi.stubEnv("DATABASE_TLS", "maybe");
  await expect(read("x")).rejects.toThrow("environment variable DATABASE_TLS has an invalid value");
});
