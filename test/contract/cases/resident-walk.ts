import * as z from "zod/mini";
import type { Section } from "../case.ts";
import { expectInvalid, expectRule, expectShape, expectStatus } from "../mismatch.ts";
import { Skipped } from "../skipped.ts";
import type { System } from "../system.ts";
import { list, needs } from "./resident-page.ts";

const cursor = z.nullable(z.string().check(z.regex(/^[\w-]+$/)));
const Step = z.strictObject({
  data: z.array(z.object({ id: z.string().check(z.regex(/^[\w-]{16}$/)), nama: z.nullable(z.string()) })),
  total: z.int(),
  page: z.int(),
  removed: z.array(z.string()),
  after: cursor,
  changed_since: cursor,
});

const walk = async (system: System, body: object, about: string) => {
  const answer = await list(system, body, about);
  expectStatus(answer, 200);
  return { answer, ...expectShape(answer, Step) };
};

/** Of a stage with more, the smoke test does not walk through all. */
const most = 2_000;

/** The fields of a body, and what is wrong with it. */
const wrongBodies: [object, string, string][] = [
  [{ after: "start", page_number: 1 }, "page_number", "page_number cannot be sent with after"],
  [{ after: "start", page_size: 1_001 }, "page_size", "page_size must be a whole number from 1 to 1000"],
  [{ after: "start", changed_since: "x" }, "changed_since", "changed_since cannot be sent with after"],
  ...["", "Start", "x y", 7, null, true].map((after): [object, string, string] => [
    { after },
    "after",
    'after must be "start", or the after of the previous page',
  ]),
  ...["", "start", "x", 7, null].map((changed_since): [object, string, string] => [
    { changed_since },
    "changed_since",
    "changed_since must be that of the last page of a walk",
  ]),
];

export const residentWalk: Section = {
  title: "Resident: walk",
  cases: [
    {
      name: "returns with after what comes next, with an id for each resident, and counts the pages",
      needs,
      fix: "Check resident.walk in lib/db/migrations.",
      check: async (system) => {
        const first = await walk(system, { after: "start", page_size: 2 }, "the first page");
        if (first.after === null) throw new Skipped("there are at most two residents");
        const second = await walk(system, { after: first.after, page_size: 2 }, "the second page");
        const ids = new Set([...first.data, ...second.data].map(({ id }) => id));
        const count = first.data.length + second.data.length;
        expectRule(second.answer, ids.size === count, `${count} different ids`, `${ids.size}`);
        expectRule(second.answer, second.page === 2, "page 2", `page ${second.page}`);
        const again = await walk(system, { after: "start", page_size: 2 }, "the first page again");
        const isSame = again.data.every(({ id }, i) => id === first.data[i]?.id);
        expectRule(again.answer, isSame, "the same ids");
      },
    },
    {
      name: "returns every resident once, and then what has changed since",
      needs,
      fix: "Check resident.walk in lib/db/migrations.",
      check: async (system) => {
        let step = await walk(system, { after: "start", page_size: 1_000 }, "the first page");
        if (step.total > most) throw new Skipped(`there are more than ${most} residents`);
        const ids = step.data.map(({ id }) => id);
        while (step.after !== null) {
          expectRule(step.answer, step.changed_since === null, "no changed_since before the last page");
          step = await walk(system, { after: step.after, page_size: 1_000 }, `page ${step.page + 1}`);
          ids.push(...step.data.map(({ id }) => id));
        }
        expectRule(step.answer, new Set(ids).size === ids.length, "each id once");
        expectRule(step.answer, step.changed_since !== null, "changed_since on the last page");
        const { changed_since } = step;
        const changes = await walk(system, { changed_since, page_size: 1_000 }, "the changes");
        const isShort = changes.data.length < ids.length || ids.length === 0;
        expectRule(changes.answer, isShort, "only what has changed", `${changes.data.length} residents`);
      },
    },
    {
      name: "rejects a walk with a page number, with both cursors, and with another text as cursor",
      needs,
      fix: "Check the schema of the list in lib/routes/resident.ts, and resident.begin_walk in lib/db/migrations.",
      check: async (system) => {
        for (const [body, field, words] of wrongBodies)
          expectInvalid(await list(system, body, JSON.stringify(body)), field, words);
      },
    },
  ],
};
