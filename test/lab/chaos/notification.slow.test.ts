import { expect, test } from "vitest";
import { useOwnCity } from "../../steps/city/own-city.ts";
import { killRun } from "./notification.ts";

const own = useOwnCity(() => ({ messenger: "fake" }));

// the short form of what `npm run lab -- chaos` does with 10,000
test("a run that is killed three times notifies everyone once who has not opted out", {
  timeout: 180_000,
}, async () => {
  const { wrongs, accepted, optedOut } = await killRun(own.city, { recipients: 1_500, kills: 3 });
  expect(wrongs).toEqual([]);
  expect([accepted, optedOut]).toEqual([1_470, 30]);
});
