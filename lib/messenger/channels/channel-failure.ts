export type ChannelFailureReason =
  /** No session is open. */
  | "not-connected"
  /** The connection broke before the answer came. */
  | "connection-lost"
  /** The platform did not answer in time. */
  | "no-answer"
  /** The caller's signal. */
  | "aborted"
  /** The number has no device that could be written to. */
  | "no-recipient"
  /** The platform did not take the media. */
  | "upload-failed"
  /** Anything else. */
  | "failed";

/** The code of a Boom, of PostgreSQL or of Node; nothing that could be a value. */
export const errorCode = (error: object): string | undefined => {
  const { code, output } = error as { code?: unknown; output?: { statusCode?: unknown } };
  const text = String(output?.statusCode ?? code ?? "");
  return /^[A-Z0-9_]{1,32}$/.test(text) ? text : undefined;
};

export const errorName = (error: Error): string => (/^\w{1,40}$/.test(error.name) ? error.name : "Error");

/** What may be told of the library's error: its message and data hold numbers, stanzas and keys. */
const describe = (error: unknown): string =>
  error instanceof Error ? ` (${[errorName(error), errorCode(error)].filter(Boolean).join(" ")})` : "";

/** Why the platform did not do what it was asked. */
export class ChannelFailure extends Error {
  readonly reason: ChannelFailureReason;
  /** Whether the message may have reached the platform: then it must be sent again with the same id only. */
  readonly mayHaveLeft: boolean;
  /** Of the library's error, or of the database's where the library was using its keys. */
  readonly code: string | undefined;

  /** @param because the library's error, of which only name and code are kept. */
  constructor(reason: ChannelFailureReason, mayHaveLeft: boolean, because?: unknown) {
    super(`the platform did not do it: ${reason}${describe(because)}`);
    this.name = "ChannelFailure";
    this.reason = reason;
    this.mayHaveLeft = mayHaveLeft;
    this.code = because instanceof Error ? errorCode(because) : undefined;
  }
}
