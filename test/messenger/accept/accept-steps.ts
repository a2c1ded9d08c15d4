import type postgres from "postgres";
import { beforeEach } from "vitest";
import { Submission } from "#lib/messaging/submission.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";

/*
 * What the tests of acceptance share: a database, and texts to accept.
 */

export let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
export let sql: postgres.Sql;

/** Creates the database of each test. */
export const useDatabase = () =>
  beforeEach(async () => {
    database = await createMessengerDatabase();
    sql = database.connect(10);
  });

let made = 0;
export const newId = () => `3EB0${++made}`;
export const seal = (id: string, text: string) => `sealed ${id} ${text.length}`;

export const text = (more: Record<string, unknown> = {}): Submission =>
  Submission.parse({ sender: "api:test", kind: "text", phone: "6281200000001", text: "hello", ...more });

export const count = async (table: "message" | "media" | "idempotency") =>
  Number((await sql`select count(*) as count from ${sql(`messaging.${table}`)}`)[0]?.count);
