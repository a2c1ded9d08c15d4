import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { disconnections, findDisconnection, type Reaction, unscanned } from "#lib/channels/whatsapp/codes.ts";

const does: Readonly<Record<Reaction, string>> = {
  restart: "reconnects at once",
  retry: "reconnects after 1 to 60 s",
  "retry-slowly": "reconnects every five minutes",
  wait: "waits until the ban ends",
  update: "looks up the version once, then stops",
  relink: "deletes the link's keys, then stops",
  stop: "stops until an operator acts",
  yield: "reconnects after 10 s",
};

test("the runbook has a row for each code, with the words of the console", () => {
  const written = readFileSync("lib/docs/guides/en/runbook.md", "utf8")
    .split("\n")
    .filter((line) => /^\| \d{3} \|/.test(line));
  const rows = [
    ...Object.entries(disconnections),
    ["408", { ...disconnections[408], ...unscanned }] as const,
  ];
  const expected = rows
    .toSorted(([one], [other]) => Number(one) - Number(other))
    .map(([code, { says, reaction, operator }]) => `| ${code} | ${says} | ${does[reaction]} | ${operator} |`);
  expect(written.filter((line) => expected.includes(line))).toEqual(expected);
});

test.each([499, undefined])("the code %s, which has no row, is retried", (code) =>
  expect(findDisconnection(code).reaction).toBe("retry"),
);
