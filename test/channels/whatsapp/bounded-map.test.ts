import { expect, test } from "vitest";
import { BoundedMap } from "#lib/channels/whatsapp/message/devices.ts";

const mapOf = (entries: number) => {
  const map = new BoundedMap<number>();
  for (let n = 1; n <= entries; n++) map.set(String(n), n);
  return map;
};

test("the 4,001st contact replaces the oldest", () => {
  const map = mapOf(4_000);
  expect([map.size, map.get("1")]).toEqual([4_000, 1]);
  map.set("4001", 4_001);
  expect([map.size, map.get("1"), map.get("2"), map.get("4001")]).toEqual([4_000, undefined, 2, 4_001]);
});

test("a contact that is set again is the newest, and replaces no other", () => {
  const map = mapOf(4_000);
  map.set("1", 0);
  expect([map.size, map.get("1"), map.get("2")]).toEqual([4_000, 0, 2]);
  map.set("4001", 4_001);
  expect([map.get("1"), map.get("2")]).toEqual([0, undefined]);
});
