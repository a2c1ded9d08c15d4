import postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { runSteps, type Step } from "#lib/maintenance/step.ts";
import { stopClock } from "../steps/secrets.ts";

/** No step here uses a database. */
const sql = postgres({ max: 0 });
const never = new AbortController().signal;
const soon = () => Date.now() + 300;

let clock: ReturnType<typeof stopClock>;
beforeEach(() => {
  clock = stopClock();
});

/** Has always more to do; each piece takes 10 ms. */
const endless: Step = {
  name: "endless",
  async work() {
    clock.pass(10);
    return { rows: 1, more: true };
  },
};

/** Has so many pieces of ten rows to do; what is done stays done. */
const pieces = (name: string, count: number): Step => ({
  name,
  async work() {
    if (count > 0) count -= 1;
    return { rows: 10, more: count > 0 };
  },
});

test("repeats a step until nothing is left, and counts the rows", async () => {
  const reports = await runSteps(sql, [pieces("three", 3), pieces("one", 1)], soon(), never);
  expect(reports.map(({ step, rows, finished }) => [step, rows, finished])).toEqual([
    ["three", 30, true],
    ["one", 10, true],
  ]);
});

test("stops an endless step, and still runs the following ones", async () => {
  const reports = await runSteps(sql, [endless, pieces("behind", 3)], soon(), never);
  expect(reports.map(({ step, rows, finished }) => [step, rows, finished])).toEqual([
    ["endless", 15, false],
    ["behind", 30, true],
  ]);
});

test("starts nothing when the time is over, and continues in the next run", async () => {
  const step = pieces("waiting", 2);
  expect(await runSteps(sql, [step], Date.now() - 1, never)).toMatchObject([{ rows: 0, finished: false }]);
  expect(await runSteps(sql, [step], soon(), never)).toMatchObject([{ rows: 20, finished: true }]);
});

test("runs the other steps when one fails, and reports its progress", async () => {
  let done = 0;
  const failing: Step = {
    name: "failing",
    async work() {
      done += 1;
      if (done === 3) throw new Error("a difference");
      return { rows: 5, more: true };
    },
  };
  const reports = await runSteps(sql, [failing, pieces("behind", 1)], soon(), never);
  expect(reports).toMatchObject([
    { step: "failing", rows: 10, finished: false, error: new Error("a difference") },
    { step: "behind", rows: 10, finished: true },
  ]);
});

test("stops when it loses the connection and with it the lock", async () => {
  const lost = new AbortController();
  const losing: Step = {
    name: "losing",
    async work() {
      lost.abort(new Error("lost"));
      return { rows: 1, more: true };
    },
  };
  const reports = await runSteps(sql, [losing, pieces("behind", 1)], soon(), lost.signal);
  expect(reports).toMatchObject([
    { step: "losing", rows: 1, error: new Error("lost") },
    { step: "behind", rows: 0, error: new Error("lost") },
  ]);
});
