import type postgres from "postgres";
import { onTestFinished } from "vitest";
import { untilBlocked } from "./blocked-connections.ts";
import type { createMessengerDatabase } from "./messenger-database.ts";

/** A write of the messenger to match. */
interface Write {
  readonly table: "message" | "number_check" | "auth_key" | "account";
  /** A condition on the new row, such as `new.state = 'SENT'`. */
  readonly when?: string;
}

const intercept = async (admin: postgres.Sql, { table, when = "true" }: Write, action: string) => {
  await admin.unsafe(`
    create sequence messaging.writes;
    create function messaging.meet_write() returns trigger language plpgsql security definer as $$
    begin
      -- a sequence counts rolled back writes too
      if nextval('messaging.writes') = 1 then ${action}; end if;
      return new;
    end $$;
    create trigger meet_write before insert or update on messaging.${table}
      for each row when (${when}) execute function messaging.meet_write()`);
  // the next test of the file uses the same database
  onTestFinished(async () => {
    await admin.unsafe("drop function messaging.meet_write cascade; drop sequence messaging.writes").simple();
  });
};

/** Makes only the next such write fail. @param code SQLSTATE of the error */
export const failNextWrite = async (admin: postgres.Sql, write: Write, code = "P0001"): Promise<void> => {
  await intercept(admin, write, `raise exception 'the database fails' using errcode = '${code}'`);
};

/** Blocks the next such write until it is released; later ones overtake it. */
export const holdNextWrite = async (
  { admin, connect }: Pick<Awaited<ReturnType<typeof createMessengerDatabase>>, "admin" | "connect">,
  write: Write,
) => {
  await intercept(admin, write, "perform pg_advisory_xact_lock(1)");
  const holder = connect(1);
  await holder`select pg_advisory_lock(1)`;
  return {
    /** Resolves once this many connections wait: the write itself, and others for its locks. */
    untilWaiting: (connections?: number) => untilBlocked(holder, connections),
    release: async () => {
      await holder`select pg_advisory_unlock(1)`;
    },
  };
};
