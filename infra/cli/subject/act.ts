import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import { type Act, otherPepper, reference, referenceRule, type SubjectState } from "#lib/resident/subject.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { CommandError, WrongCall } from "../command.ts";
import { readStageSecret, withConnection } from "../stage.ts";

/** @throws WrongCall */
const readReference = (option: string) => (text: string) => {
  const trimmed = text.trim();
  if (reference.test(trimmed)) return trimmed;
  throw new WrongCall(`${option} ${referenceRule}`);
};

/** @throws WrongCall */
export const readNik = (text: string): string => {
  if (/^\d{16}$/.test(text)) return text;
  throw new WrongCall("NIK must have exactly 16 digits");
};

export const by = ["--by <operator>", "who does it, for the audit", readReference("--by")] as const;
export const reason = ["--reason <text>", "why, for the audit", readReference("--reason")] as const;
export const caseOf = [
  "--case <reference>",
  "the citizen's request in your files",
  readReference("--case"),
] as const;

export interface ActOptions {
  readonly by: string;
  readonly reason: string;
  readonly case?: string | undefined;
}

export const createAct = async (nik: string, given: ActOptions): Promise<Act> => {
  const pepper = await readStageSecret("audit-pepper");
  return {
    nik,
    nikDigest: digestWith(pepper).digest(nik),
    pepperVersion: pepper.version,
    operator: given.by,
    reason: given.reason,
    caseReference: given.case ?? null,
    requestId: randomUUID(),
  };
};

/** Does an act on a connection of its own. @throws CommandError if the pepper is not that of the recorded erasures. */
export const perform = <T>(act: (sql: postgres.Sql) => Promise<T>): Promise<T> =>
  withConnection("subject", act).catch((error: { code?: string }) => {
    if (error.code !== otherPepper) throw error;
    throw new CommandError(
      "Residents were erased with another version of the pepper: the secret audit-pepper needs the version that it had then.",
    );
  });

const absences: Readonly<Record<SubjectState, string>> = {
  stored: "The resident is not restricted.",
  restricted: "The resident is restricted already.",
  left: "The resident is not restricted, but has left the register: an import that has the resident shows them again.",
  erased: "The resident was erased.",
  unknown: "No resident has this NIK.",
};

/** The error of an act that had nothing to do; the audit has its attempt. */
export const nothingToDo = (state: SubjectState): CommandError => new CommandError(absences[state]);
