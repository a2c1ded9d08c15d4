import { describe, expect, test } from "vitest";
import { networkOf } from "#lib/employee/attempt.ts";
import { rejectionDelayMs } from "#lib/employee/login.ts";
import { mintRefreshToken, openSuccessor, sealSuccessor } from "#lib/employee/refresh-token.ts";

describe("a sealed successor", () => {
  const [token, successor] = [mintRefreshToken(), mintRefreshToken()];

  test("is opened with the token that sealed it", () =>
    expect(openSuccessor(token, sealSuccessor(token, successor))).toBe(successor));

  test("is not opened with another token, or after a change", () => {
    const sealed = sealSuccessor(token, successor);
    expect(() => openSuccessor(successor, sealed)).toThrow();
    for (const at of [0, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => openSuccessor(token, changed)).toThrow();
    }
  });

  test("differs each time, and does not reveal its content", () => {
    const sealed = sealSuccessor(token, successor);
    expect(sealed.equals(sealSuccessor(token, successor))).toBe(false);
    expect(sealed.toString("latin1")).not.toContain(successor);
  });
});

describe("the network of an address", () => {
  test.each([
    ["203.0.113.7", "203.0.113"],
    ["::ffff:203.0.113.9", "203.0.113"],
    ["not an address", "not an address"],
  ])("of %s is %s", (address, network) => expect(networkOf(address)).toBe(network));

  test("is the same for all addresses of an IPv6 subscriber, and different for the next subscriber", () => {
    const home = networkOf("2001:db8:1:200::1");
    expect(networkOf("2001:DB8:1:2ff:ffff::9")).toBe(home);
    expect(networkOf("2001:db8:1:300::1")).not.toBe(home);
  });
});

test("a rejection is delayed to the same moment when the legacy system is slower", () => {
  const moments = [3, 40, 120, 499].map((elapsedMs) => elapsedMs + rejectionDelayMs(elapsedMs));
  expect(new Set(moments).size).toBe(1);
  expect(730 + rejectionDelayMs(730)).toBe(2 * (moments[0] ?? 0));
});
