import { reportToPortal } from "#lib/resident/citizen-portal.ts";
import { correctSubject, reportSubject, restrictSubject } from "#lib/resident/subject.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import type { Ground, Measurable } from "./groups.ts";
import { phoneOf } from "./message-data.ts";

interface Person {
  readonly nik: string;
}

/** Of whom every eighth read showed the first page, and of those whom only some reads have shown. */
const findPersons = async ({ owner, sizes }: Ground) => {
  const [newest] = await owner<Person[]>`
    select nik from resident.resident order by created_at desc, id desc limit 1`;
  const usual = await owner<Person[]>`
    select nik from resident.resident where id between ${Math.floor(sizes.residents / 2)} and ${Math.floor(sizes.residents / 2) + 299}`;
  return { newest: newest?.nik ?? "", usual: (turn: number) => usual[turn % usual.length]?.nik ?? "" };
};

/** Who saw me: in the citizens' portal. */
export async function* portalCases(ground: Ground): AsyncGenerator<Measurable> {
  const { newest, usual } = await findPersons(ground);
  const report = async (nik: string, most?: number) => {
    const found = await reportToPortal({ nik, ...(most && { most }) }, "bench");
    if ("error" in found) throw new Error(found.error);
  };
  yield { name: "portal: who saw me, usual person", run: (turn) => report(usual(turn)) };
  yield { name: "portal: who saw me, on page 1", run: () => report(newest), most: 50 };
  yield { name: "portal: who saw me, on page 1, 10,000 reads", run: () => report(newest, 10_000), most: 20 };
  await ground.owner`vacuum audit.resident_read`;
  yield { name: "portal: who saw me, usual person, after autovacuum", run: (turn) => report(usual(turn)) };
  yield { name: "portal: who saw me, on page 1, after autovacuum", run: () => report(newest), most: 50 };
}

/** An operator acts for a citizen. */
export async function* subjectCases(ground: Ground): AsyncGenerator<Measurable> {
  const { sql } = ground;
  const { usual } = await findPersons(ground);
  const { version, digest } = await digestTerm();
  const act = (nik: string) => ({
    ...{ nik, nikDigest: digest(nik), pepperVersion: version, operator: "operator" },
    ...{ reason: "request", caseReference: null, requestId: "bench" },
  });
  const phone = phoneOf(7);
  yield {
    name: "subjects: report with a phone number",
    run: (turn) =>
      reportSubject(sql, act(usual(turn)), { most: 1_000, phone: { number: phone, digest: digest(phone) } }),
  };
  yield {
    name: "subjects: correct",
    run: (turn) => correctSubject(sql, act(usual(turn)), { address: `JALAN BARU ${turn}` }),
  };
  yield { name: "subjects: restrict", run: (turn) => restrictSubject(sql, act(usual(turn)), false) };
  yield { name: "subjects: lift a restriction", run: (turn) => restrictSubject(sql, act(usual(turn)), true) };
}
