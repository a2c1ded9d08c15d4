import { getSetting } from "#lib/config.ts";
import { type Answer, httpClient, NoAnswer } from "#lib/http/client.ts";
import { Fault } from "#lib/http/fault.ts";
import type { OldSystem } from "#lib/routes/route.ts";

/** A city's old system over HTTP, in front of which nobody waits longer than 10 s. */
const defaultTimeoutMs = 8_000;
/** Before an identity is proved there may be a wait for the throttle. */
export const proofTimeoutMs = 5_000;
/** A list of 20,000 employees is 3 MB; what Lambda may answer is 6 MB. */
const send = httpClient({ connectTimeoutMs: 2_000, maxAnswerBytes: 5 * 1024 * 1024 });

interface Question {
  readonly method: "GET" | "POST";
  /** Below the system's address. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  /** For connecting, asking and reading together. */
  readonly timeoutMs?: number;
}

const encode = (form: Readonly<Record<string, string>>) => ({
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(form).toString(),
});

/** A 502 for whatever an old system answered that is not what was agreed; the reason is for the log alone. */
export const badAnswer = (system: OldSystem, reason: string): Fault =>
  new Fault(502, "bad_gateway", "The system behind this service failed; try again later", {
    cause: new Error(`${system} gave a bad answer: ${reason}`),
  });

/**
 * Asks an old system.
 *
 * @throws Fault 504 when the system is silent for its time (8 s unless told) or cannot be connected to within 2 s.
 * @throws Fault 502 when it cannot be reached, breaks off, or answers more than 5 MB.
 */
export const ask = async (system: OldSystem, { form, timeoutMs, ...question }: Question): Promise<Answer> => {
  const whole = { ...question, url: getSetting(system), ...(form && encode(form)) };
  return send(whole, timeoutMs ?? defaultTimeoutMs).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    if (!error.timedOut) throw badAnswer(system, error.message);
    throw new Fault(504, "timeout", "The system behind this service took too long; try again later", {
      cause: new Error(`${system} timed out`),
    });
  });
};
