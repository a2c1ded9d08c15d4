import type postgres from "postgres";
import { beforeEach } from "vitest";
import { Submission } from "#lib/messaging/submission.ts";
import { type AcceptanceOptions, accept } from "#lib/messenger/accept/acceptance.ts";
import { openIntake } from "#lib/messenger/accept/intake.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";

/*
 * What the tests of acceptance share: a database, and texts and files to accept.
 */

export let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
export let sql: postgres.Sql;
export let store: ReturnType<typeof openIntake>;

/** Creates the database of each test. */
export const useDatabase = () =>
  beforeEach(async () => {
    database = await createMessengerDatabase();
    sql = database.connect(10);
    store = openIntake(sql);
  });

let made = 0;
export const newId = () => `3EB0${++made}`;
export const seal = (id: string, text: string) => `sealed ${id} ${text.length}`;

export const text = (more: Record<string, unknown> = {}): Submission =>
  Submission.parse({ sender: "api:test", kind: "text", phone: "6281200000001", text: "hello", ...more });

export const file = (more: Record<string, unknown> = {}): Submission =>
  Submission.parse({ sender: "api:test", kind: "file", phone: "6281200000001", ...more });

export async function* streamOf(...pieces: (Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    yield piece;
  }
}

/** A text file as an upload or a download gives it. */
export const sourceOf = (bytes: Uint8Array) => ({
  ...{ contentType: "text/plain", fileName: "a.txt" },
  body: streamOf(bytes),
});

/** Accepts a message. @param options instead of those of a sender without limits, whose URLs have a file of 700 bytes */
export const acceptWith = (
  options: Partial<AcceptanceOptions>,
  submission: Submission,
  inline?: Uint8Array,
  signal?: AbortSignal,
) =>
  accept(
    {
      ...{ sql, store, newId, seal, notify: () => {}, isOptedOut: async () => false },
      quota: { take: async () => () => {}, takeBytes: async () => {} },
      fetchMedia: async (_, bytes) => sourceOf(bytes ?? Buffer.alloc(700)),
      ...options,
    },
    submission,
    inline,
    signal,
  );

export const count = async (table: "message" | "media" | "idempotency") =>
  Number((await sql`select count(*) as count from ${sql(`messaging.${table}`)}`)[0]?.count);
