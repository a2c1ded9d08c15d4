export type ChannelFailureReason =
  /** No connection is open. */
  | "not-connected"
  /** The connection broke before the answer arrived. */
  | "connection-lost"
  /** The platform did not answer in time. */
  | "no-answer"
  /** The caller's signal was aborted. */
  | "aborted"
  /** The number has no device to send to. */
  | "no-recipient"
  /** No media server accepted the media. */
  | "upload-failed"
  /** Anything else. */
  | "failed";

/** The error code of Boom, PostgreSQL or Node; undefined for anything that does not look like one. */
export const errorCode = (error: object): string | undefined => {
  const { code, output } = error as { code?: unknown; output?: { statusCode?: unknown } };
  const text = String(output?.statusCode ?? code ?? "");
  return /^[A-Z0-9_]{1,32}$/.test(text) ? text : undefined;
};

export const errorName = (error: Error): string => (/^\w{1,40}$/.test(error.name) ? error.name : "Error");

/** Name and code of the library's error, without its message and data: they contain numbers, stanzas and keys. */
const describe = (error: unknown): string =>
  error instanceof Error ? ` (${[errorName(error), errorCode(error)].filter(Boolean).join(" ")})` : "";

export class ChannelFailure extends Error {
  readonly reason: ChannelFailureReason;
  /** Whether the platform may have the message: then it may be sent again only with the same id. */
  readonly mayHaveLeft: boolean;
  /** The code of the library's error, or of the database's if the library was reading or writing keys. */
  readonly code: string | undefined;

  /** @param cause the library's error, of which only name and code are stored. */
  constructor(reason: ChannelFailureReason, mayHaveLeft: boolean, cause?: unknown) {
    super(`channel failure: ${reason}${describe(cause)}`);
    this.name = "ChannelFailure";
    this.reason = reason;
    this.mayHaveLeft = mayHaveLeft;
    this.code = cause instanceof Error ? errorCode(cause) : undefined;
  }
}
