import { expect, test } from "vitest";
import { lazy } from "#lib/cached.ts";

test("creates the value once, also for concurrent callers", async () => {
  let made = 0;
  const get = lazy(async () => ++made);
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
});

test("retries after a failure", async () => {
  let made = 0;
  const get = lazy(async () => {
    if (++made === 1) throw new Error("first");
    return made;
  });
  await expect(get()).rejects.toThrow("first");
  expect(await get()).toBe(2);
});

test("creates a new value after a reset, which an old failure does not reset", async () => {
  let made = 0;
  const failing = Promise.withResolvers<number>();
  const get = lazy(() => (++made === 1 ? failing.promise : Promise.resolve(made)));
  const first = get();
  get.reset();
  const second = get();
  failing.reject(new Error("late"));
  await expect(first).rejects.toThrow("late");
  expect([await second, await get(), made]).toEqual([2, 2, 2]);
});
