-- How long rows are kept: everything that is deleted because of its age, except the reads in the audit, whose partitions are
-- dropped (functions/audit/partition.sql), and media (lib/messenger/outbox/media.ts). The guide to personal data says the same.

-- Rows of `relation` are deleted when `since` is longer ago than `keep`, except those that the condition `unless` is true for;
-- `batch` rows in one statement.
create or replace function city.retention()
returns table (relation text, since text, keep interval, unless text, batch integer)
language sql stable security definer
set search_path = city, pg_temp
begin atomic
  values
    ('employee.attempt', 'made_at', interval '1 day', null, 5000),
    ('employee.ticket', 'issued_at', '1 day', null, 5000),
    ('employee.known_network', 'seen_at', '30 days', null, 5000),
    -- each with up to 2,880 refresh tokens, one per quarter of an hour
    ('employee.session', 'expires_at', '1 day', null, 100),

    ('resident.failed_verification', 'made_at', '1 day', null, 5000),
    ('resident.read_count', 'since', '1 day', null, 5000),

    -- phones may request a message again until it expires, and senders may reply to it for some days
    ('messaging.payload', 'composed_at', '7 days',
      'exists (select from messaging.message m where m.seq = r.seq and m.is_open)', 1000),
    -- of a scheduled one from the time for which it was scheduled
    ('messaging.message', 'accepted_at', '30 days', 'r.is_open or r.not_before >= now() - interval ''30 days''', 1000),
    -- keys are honoured for 24 hours
    ('messaging.idempotency', 'created_at', '25 hours', null, 5000),
    ('messaging.answered', 'at', '24 hours', null, 5000),
    -- the chart shows 24 hours
    ('messaging.ending', 'hour', '24 hours', null, 5000),
    ('messaging.callback_event', 'given_up_at', '30 days', null, 5000),
    ('messaging.number_check', 'checked_at', '30 days', null, 5000),
    -- a number that nobody has written to for so long may have another owner
    ('messaging.contact', 'used_on', '24 months', null, 5000),
    ('messaging.route', 'used_on', '24 months', null, 5000),
    ('messaging.sender_day', 'day', '90 days', null, 5000),
    -- with the results
    ('messaging.operator_act', 'at', audit.age_limit(), null, 5000),

    ('notification.request', 'changed_at', '30 days', null, 5000),
    -- recipients in a current audience are marked as seen every day; those of a bulk run go together, because its last message
    -- may be due a month after its first
    ('notification.recipient', 'seen_at', '30 days',
      'r.run_id in (select id from notification.run bulk where template is not null and exists (
        select from notification.recipient where run_id = bulk.id and seen_at >= now() - interval ''30 days''))', 5000),
    -- a bulk run is known as long as its recipients are: without it, the same file would be sent again
    ('notification.run', 'changed_at', '30 days',
      'r.template is not null and exists (select from notification.recipient where run_id = r.id)', 5000);
end;

-- Deletes a batch of a table's rows that are no longer kept. Returns how many.
create or replace function city.delete_old(of_relation text) returns integer
language plpgsql volatile security definer
set search_path = city, pg_temp as $$
declare
  rule record;
  deleted integer;
begin
  select * into strict rule from city.retention() where relation = of_relation;
  execute format(
    'delete from %1$s where ctid = any (array(
      select r.ctid from %1$s r where r.%2$I < now() - interval %3$L and not coalesce(%4$s, false)
      limit %5$s for update skip locked))',
    rule.relation::regclass, rule.since, rule.keep, coalesce(rule.unless, 'false'), rule.batch);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

grant execute on function city.retention, city.delete_old to municipal_maintenance;
