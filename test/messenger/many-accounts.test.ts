import { expect, test, vi } from "vitest";
import { runTrial } from "./fleet/trial.ts";
import { createMessengerDatabase } from "./messenger-database.ts";

vi.setConfig({ testTimeout: 120_000 });

const perMinute = 70;
const newContactsPerDay = 60;

test("a banned account and a killed task lose no text, send none twice and exceed no cap", async () => {
  vi.stubEnv("LOG_LEVEL", "error");
  const { url, admin } = await createMessengerDatabase();
  const { accounts, codes, ...verdict } = await runTrial({
    ...{ databaseUrl: url, admin, accounts: 3, tasks: 2, recipients: 60, bans: 1, kills: 1 },
    ...{
      codes: 4,
      codeEveryMs: 20,
      accepts: 0,
      onStep: (step: string) => console.error(new Date().toISOString(), step),
    },
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
  console.error(JSON.stringify({ verdict, accounts, codes }, null, 1));
  expect(verdict).toMatchObject({ twice: 0, changed: 0, disturbed: 0, faults: 0 });
});
