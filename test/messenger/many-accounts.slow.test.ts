import { expect, test, vi } from "vitest";
import { createMessengerDatabase } from "../fleet/messenger-database.ts";
import { runTrial } from "../fleet/trial.ts";

vi.setConfig({ testTimeout: 900_000 });

const perMinute = 70;
const newContactsPerDay = 60;

test("while an account is banned and a task is killed, no text is lost or sent twice, routes and caps hold, and codes arrive", async () => {
  vi.stubEnv("LOG_LEVEL", "error");
  const { url, admin } = await createMessengerDatabase();
  const { accounts, codes, ...verdict } = await runTrial({
    ...{ databaseUrl: url, admin, accounts: 3, tasks: 2, recipients: 60, bans: 1, kills: 1 },
    ...{ codes: 4, codeEveryMs: 20, accepts: 0, onStep: () => {} },
    pace: {
      ...{
        gapMs: [5, 10],
        perRecipientMs: 20,
        perMinute,
        perHour: 10_000,
        perDay: 10_000,
        newContactsPerDay,
      },
      ...{ warmUp: [], rampMs: 0, retryMs: [50, 500] },
    },
  });
  expect(verdict).toMatchObject({ notices: 72, twice: 0, lost: 0, changed: 0, bySms: 0 });
  expect(verdict).toMatchObject({ disturbed: 0, faults: 0 });
  for (const account of accounts) {
    expect(account.worstMinute).toBeLessThanOrEqual(perMinute);
    expect(account.contacts).toBeLessThanOrEqual(newContactsPerDay);
    expect(account.mostLoggedIn).toBe(1);
  }
  expect(Object.values(codes).map(({ lost }) => lost)).toEqual([0, 0, 0]);
  expect([codes.away.bySms, codes.none.bySms]).toEqual([4, expect.any(Number)]);
});
