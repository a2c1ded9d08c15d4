import type postgres from "postgres";
import { jobs } from "#lib/notification/jobs.ts";
import type { Parts } from "./sizes.ts";

/** The name of the largest bulk run, and the key of its recipient with this number. */
export const bulkName = "bulk-largest";

/** Runs of 30 days, a large bulk run, recipients of the jobs, what the front office has, and versions of texts. */
export const addNotifications = async (
  owner: postgres.Sql,
  { runs, bulkRecipients, others, persons }: Parts,
): Promise<void> => {
  const names = jobs.map(({ name }) => `'${name}'`).join();
  await owner
    .unsafe(
      `insert into notification.run (job, scheduled_at, state, accepted, started_at, changed_at)
       select (array[${names}])[1 + n % ${jobs.length}], date_trunc('minute', now()) - n * interval '1 minute',
         case when n % 1000 = 999 then 'failed' else 'done' end, n % 3,
         now() - n * interval '1 minute', now() - n * interval '1 minute'
       from generate_series(0, ${runs - 1}) n;
       create table bench.run as select id, row_number() over (order by scheduled_at) - 1 as place from notification.run;
       create unique index on bench.run (place);
       insert into notification.run (job, template, lines, scheduled_at, state, accepted)
       select 'bulk:' || case n when 1 then '${bulkName}' else 'bulk-' || n end, 'status-change', ${bulkRecipients},
         now() - n * interval '2 days', 'done', ${bulkRecipients}
       from generate_series(1, 10) n;
       insert into notification.recipient (job, occasion, dedupe_key, run_id, outcome, message_id, line, file, masked, seen_at)
       select r.job, '-infinity', md5(n::text), r.id, case when n % 50 = 0 then 'refused' else 'accepted' end, 'M' || n, n, 'f',
         '6281•••12', now() - bench.share(n, 20) * interval '20 days'
       from notification.run r, generate_series(1, ${bulkRecipients}) n where job in ('bulk:${bulkName}', 'bulk:bulk-2');
       insert into notification.recipient (job, occasion, dedupe_key, run_id, outcome, message_id, seen_at)
       select 'document-status', '-infinity', 'D-' || n, r.id, 'accepted', 'M' || n, now() - bench.share(n, 21) * interval '30 days 1 hour'
       from generate_series(1, ${others}) n join bench.run r on r.place = n % ${runs};
       insert into notification.request (id, template, outcome, changed_at)
       select 'request-' || n, 'status-change', 'accepted', now() - n * interval '30 days 1 hour' / ${others}
       from generate_series(1, ${others}) n;
       insert into notification.template (name, version, text, class, parameters, author, approver, approved_at)
       select 'text-' || n % 20, 1 + n / 20, 'Halo {{name}}', 'reminder', '{"name": "words:60"}', 'a', 'b', now()
       from generate_series(0, 199) n;
       insert into office.appointment (id, name, phone, service, place, starts_at)
       select 'A-' || n, 'Siti', '62812' || lpad((n % ${persons})::text, 8, '0'), 'KTP', 'Loket 1',
         now() + interval '30 days' - n * interval '1 year' / ${others}
       from generate_series(1, ${others}) n;
       insert into office.queue_ticket (id, number, phone, service, place, taken_at, done_at)
       select 'Q-' || n, 'A' || n, '62812' || lpad((n % ${persons})::text, 8, '0'), 'KTP', 'Loket 1', now() - n * interval '1 minute',
         case when n > 60 then now() end
       from generate_series(1, ${others}) n;
       insert into office.document (number, kind, name, phone, status, changed_at)
       select 'D-' || n, 'KTP', 'Siti', '62812' || lpad((n % ${persons})::text, 8, '0'), 'selesai', now() - n * interval '1 year' / ${others}
       from generate_series(1, ${others}) n;
       insert into office.on_call (id, phone) select n::text, '62813' || lpad(n::text, 8, '0') from generate_series(1, 20) n;
       insert into office.alert (id, system, summary, since, ended_at)
       select n::text, 'Antrean', 'mati', now() - n * interval '1 day', case when n > 1 then now() end
       from generate_series(1, 300) n`,
    )
    .simple();
};
