import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { listAuthorities } from "../../infra/build/build.ts";

test("the messenger's image contains the valid RDS authorities of each region and key type", () => {
  const names = listAuthorities().map((pem) => {
    const { ca, subject, validToDate } = new X509Certificate(pem);
    expect([ca, validToDate > new Date()]).toEqual([true, true]);
    return /CN=(.*)/.exec(subject)?.[1];
  });
  expect(names).toEqual(
    expect.arrayContaining(
      ["RSA2048", "RSA4096", "ECC384"].map((key) => `Amazon RDS ap-southeast-3 Root CA ${key} G1`),
    ),
  );
  expect(new Set(names).size).toBe(names.length);
});
