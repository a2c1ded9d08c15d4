import { expect, test } from "vitest";
import { isOlder, parseVersion } from "#lib/messenger/channels/whatsapp/web-version.ts";

test.each([
  [" 2.3000.1043857760 ", [2, 3000, 1_043_857_760]],
  ["2.3000.4294967295", [2, 3000, 4_294_967_295]],
  ["2.3000.4294967296", undefined],
  ["2.3000", undefined],
  ["2.3000.1.1", undefined],
  ["2.3000.-1", undefined],
  ["latest", undefined],
  ["", undefined],
])("the version %j is read as %j", (text, version) => expect(parseVersion(text)).toEqual(version));

test.each([
  ["2.3000.1", "2.3000.2", true],
  ["2.3000.2", "2.3000.2", false],
  ["2.3000.3", "2.3000.2", false],
  ["2.2999.9", "2.3000.1", true],
  ["3.1.1", "2.3000.1", false],
])("that %s is older than %s is %j", (one, other, expected) => {
  const [version, compared] = [parseVersion(one), parseVersion(other)];
  expect(version && compared && isOlder(version, compared)).toBe(expected);
});
