import { writeFileSync } from "node:fs";
import { type Report, type ReportedRead, reportSubject } from "#lib/resident/subject.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { CommandError, type Reply } from "../command.ts";
import { formatTable, formatTime } from "../output.ts";
import { readStageSecret } from "../stage.ts";
import { type ActOptions, createAct, perform } from "./act.ts";
import { reportPage } from "./report-page.ts";

const states: Readonly<Record<Report["state"], string>> = {
  stored: "is stored",
  restricted: "is stored, and restricted: no partner sees it",
  left: "is stored, and has left the register: no partner sees it",
  erased: "was erased",
  unknown: "is not stored",
};

const sayTime = (time: string | null): string => formatTime(time === null ? null : new Date(time));

const describeAnswers = (answers: ReportedRead["answers"]): string =>
  Object.entries(answers ?? {})
    .map(([column, isMatch]) => `${column} ${isMatch ? "match" : "no match"}`)
    .join(", ") || "-";

const section = (title: string, header: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0 ? `${title}: none` : `${title}: ${rows.length}\n${formatTable(header, rows)}`;

const describeNumber = ({ messages, knownSince, optedOutSince }: NonNullable<Report["number"]>): string[] => [
  knownSince === null
    ? "The city's accounts do not know the number."
    : `The city's accounts know the number since ${sayTime(knownSince)}, until 24 months after the last message.`,
  optedOutSince === null
    ? "The number has not opted out of reminders."
    : `The number gets no reminders since ${sayTime(optedOutSince)}.`,
  section(
    "Messages to the number",
    ["accepted", "sent", "state", "kind", "sender", "job"],
    messages.map((one) => [
      sayTime(one.acceptedAt),
      sayTime(one.sentAt),
      one.state,
      one.kind,
      one.sender,
      one.job ?? "-",
    ]),
  ),
];

const describe = (report: Report): string => {
  const { state, since, id, resident, corrections, reads, acts, hasMore, number } = report;
  return [
    `The resident ${states[state]}${since === null ? "" : `, since ${sayTime(since)}`}${id === null ? "" : ` (id ${id})`}.`,
    ...(resident
      ? [
          formatTable(
            ["column", "value"],
            Object.entries(resident).map(([name, value]) => [name, String(value)]),
          ),
        ]
      : []),
    section(
      "Corrections",
      ["column", "before", "after", "at"],
      corrections.map(({ column, before, after, at }) => [column, before, after, sayTime(at)]),
    ),
    section(
      "Reads",
      ["at", "partner", "route", "purpose", "case", "answers"],
      reads.map(({ at, partner, route, purpose, answers, case: reference }) => [
        sayTime(at),
        partner,
        route,
        purpose ?? "-",
        reference ?? "-",
        describeAnswers(answers),
      ]),
    ),
    section(
      "Done for the citizen",
      ["at", "act", "by", "reason", "case"],
      acts.map(({ at, act, by, reason, case: reference }) => [
        sayTime(at),
        act,
        by,
        reason,
        reference ?? "-",
      ]),
    ),
    ...(hasMore ? ["There are older reads. To list more of them, add --most."] : []),
    ...(number ? describeNumber(number) : []),
  ].join("\n\n");
};

const digestNumber = async (number: string): Promise<{ number: string; digest: Buffer }> => ({
  number,
  digest: digestWith(await readStageSecret("opt-out-pepper")).digest(number),
});

export interface ReportOptions extends ActOptions {
  readonly most: number;
  readonly phone?: string | undefined;
  readonly html?: string | undefined;
}

const writePage = (file: string, report: Report, now: Date): void => {
  try {
    // it contains personal data
    writeFileSync(file, reportPage(report, now).text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(
      code === "EEXIST" ? `${file} exists already` : `${file} cannot be written (${code}).`,
    );
  }
};

/** Reports what is stored about a citizen and who read it, as text, and as a page for the citizen. */
export const report = async (
  nik: string,
  { most, phone, html, ...options }: ReportOptions,
): Promise<Reply> => {
  const act = await createAct(nik, options);
  const number = phone === undefined ? undefined : await digestNumber(phone);
  const found = await perform((sql) => reportSubject(sql, act, { most, phone: number }));
  if (html !== undefined) writePage(html, found, new Date());
  const text = html === undefined ? describe(found) : `The page for the citizen is in ${html}`;
  return { text, json: { ...found, requestId: act.requestId } };
};
