import type postgres from "postgres";
import { expect, onTestFinished } from "vitest";
import type { createMessengerDatabase } from "./messenger-database.ts";

/** A row of the messenger's that is about to be written. */
interface Write {
  readonly table: "message" | "number_check" | "auth_key";
  /** Condition on the row as it will be, such as `new.state = 'SENT'`. */
  readonly when?: string;
}

const intercept = async (admin: postgres.Sql, { table, when = "true" }: Write, action: string) => {
  await admin.unsafe(`
    create sequence messaging.writes;
    create function messaging.meet_write() returns trigger language plpgsql security definer as $$
    begin
      -- a sequence counts what is rolled back, too
      if nextval('messaging.writes') = 1 then ${action}; end if;
      return new;
    end $$;
    create trigger meet_write before insert or update on messaging.${table}
      for each row when (${when}) execute function messaging.meet_write()`);
  // the next test of the file has the same database
  onTestFinished(async () => {
    await admin.unsafe("drop function messaging.meet_write cascade; drop sequence messaging.writes").simple();
  });
};

/** Makes the next such write fail, and no other. @param code SQLSTATE of the failure */
export const failNextWrite = async (admin: postgres.Sql, write: Write, code = "P0001"): Promise<void> => {
  await intercept(admin, write, `raise exception 'the database fails' using errcode = '${code}'`);
};

/** Makes the next such write wait until it is released; later ones overtake it. */
export const holdNextWrite = async (
  { admin, connect }: Pick<Awaited<ReturnType<typeof createMessengerDatabase>>, "admin" | "connect">,
  write: Write,
) => {
  await intercept(admin, write, "perform pg_advisory_xact_lock(1)");
  const holder = connect(1);
  await holder`select pg_advisory_lock(1)`;
  const countWaiting = async () => {
    const rows = await holder`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length;
  };
  return {
    /** Resolves once so many connections wait: the write itself, and others for what it has locked. */
    untilWaiting: (connections = 1) => expect.poll(countWaiting, { timeout: 10_000 }).toBe(connections),
    release: async () => {
      await holder`select pg_advisory_unlock(1)`;
    },
  };
};
