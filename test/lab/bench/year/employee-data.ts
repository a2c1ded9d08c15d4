import type postgres from "postgres";
import type { Parts } from "./sizes.ts";

/** Attempts of a day to log in, sessions of 30 days with their tokens, tickets, and networks. */
export const addEmployees = async (owner: postgres.Sql, { others }: Parts): Promise<void> => {
  await owner
    .unsafe(`
    insert into employee.attempt (account_digest, network_digest, source_digest, made_at, failed_at)
    select sha256(int8send(n % 5000)), sha256(int8send(n % 777)), sha256(int8send(n % 777)),
      now() - n * interval '1 day' / ${others}, now() - n * interval '1 day' / ${others}
    from generate_series(1, ${others}) n;
    insert into employee.known_network (account_digest, network_digest, seen_at)
    select sha256(int8send(n)), sha256(int8send(n % 777)), now() - n * interval '30 days' / ${others}
    from generate_series(1, ${others}) n;
    insert into employee.ticket (digest, account_id, issued_at)
    select sha256(int8send(n)), n::text, now() - n * interval '1 day' / ${others} from generate_series(1, ${others}) n;
    insert into employee.session (account_id, name_digest, scope, started_at, expires_at)
    select n::text, sha256(int8send(n)), 'pegawai tiket', now() - n * interval '30 days' / ${others},
      now() + interval '30 days' - n * interval '30 days' / ${others}
    from generate_series(1, ${others}) n;
    insert into employee.refresh_token (digest, session_id, issued_at)
    select sha256(uuid_send(id) || int8send(n)), id, started_at + n * interval '15 minutes'
    from employee.session, generate_series(1, 10) n;`)
    .simple();
  for (const table of ["attempt", "known_network", "ticket", "session", "refresh_token"])
    await owner.unsafe(`vacuum (analyze) employee.${table}`);
};
