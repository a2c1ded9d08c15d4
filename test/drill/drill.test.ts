import { expect, test } from "vitest";
import { type DrillOptions, runDrill } from "./run.ts";

// the short form of `npm run drill`
const drill = (options: Partial<DrillOptions> = {}) => runDrill({ residents: 500, phones: 4, ...options });

const wrongsOf = ({ steps }: Awaited<ReturnType<typeof drill>>) =>
  steps.flatMap(({ name, wrongs }) => wrongs.map((wrong) => `${name}: ${wrong}`));

test("a city that was lost with its server is restored with all that was archived, and shows every message once", async () => {
  const report = await drill();
  expect(wrongsOf(report)).toEqual([]);
  expect(report.steps.at(-1)?.name).toBe("send new messages");
});

test("a changed row of the sealed audit in the backup fails the drill", async () => {
  const tamper: DrillOptions["tamper"] = (sql) => sql`
    update audit.resident_read set partner_id = 'somebody-else' where id = 7`;
  expect(wrongsOf(await drill({ tamper }))).toContain("verify the audit: seal 1: its rows were changed");
});
