import { expect, test } from "vitest";
import { readRetryAfter } from "#lib/messenger/callback/post.ts";

const now = Date.parse("2030-01-01T00:00:00Z");
test.each<[string, number | undefined]>([
  ["120", 120],
  ["0", 0],
  ["99999999999", 3_600],
  ["Tue, 01 Jan 2030 00:02:00 GMT", 120],
  ["Tuesday, 01-Jan-30 00:02:00 GMT", 120],
  ["Tue Jan  1 00:02:00 2030", 120],
  ["Wed, 01 Jan 2031 00:00:00 GMT", 3_600],
  ["Mon, 31 Dec 2029 23:59:00 GMT", 0],
  ["-5", undefined],
  ["1.5", undefined],
  ["2030-01-01T00:02:00Z", undefined],
  ["Tue, 99 Jan 2030 00:02:00 GMT", undefined],
  ["soon", undefined],
  ["", undefined],
])("a Retry-After of %j is %j seconds", (value, seconds) => expect(readRetryAfter(value, now)).toBe(seconds));
