import { expect, test } from "vitest";
import { type DrillOptions, runDrill } from "./run.ts";

// the short form of `npm run lab -- drill`
const drill = (options: Partial<DrillOptions> = {}) => runDrill({ residents: 500, phones: 4, ...options });

const wrongsOf = ({ steps }: Awaited<ReturnType<typeof drill>>) =>
  steps.flatMap(({ name, wrongs }) => wrongs.map((wrong) => `${name}: ${wrong}`));

test("a city that was lost with its server is restored with all that was archived, and shows every message once", async () => {
  const report = await drill();
  expect(wrongsOf(report)).toEqual([]);
  expect(report.steps.at(-1)?.name).toBe("send new messages");
});

test.each([
  [
    "a changed row of the sealed audit",
    "update audit.resident_read set partner_id = 'somebody-else' where id = 7",
    "verify the audit: seal 1: its rows were changed",
  ],
  [
    "a missing opt-out",
    "delete from notification.opt_out where digest = (select min(digest) from notification.opt_out)",
    "look for opt-outs: 1 opt-outs are not found",
  ],
])("%s in the backup fails the drill", async (_, statement, wrong) =>
  expect(wrongsOf(await drill({ tamper: (sql) => sql.unsafe(statement) }))).toContain(wrong),
);
