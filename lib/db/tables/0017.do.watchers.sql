-- Roles that watch. Maintenance executes functions, and has no access to tables.
--
-- The operators' console reads with a role of its own. It can write nothing, and cannot read what the console does not show:
-- texts and media, keys and payloads, digests, secrets and paths of callbacks, recipients of notifications. What operators
-- do, and its record, is done with the messenger's role. Phone numbers are compared and masked by the console's statements.
set role municipal_owner;

grant usage on schema employee, messaging, notification, resident, audit to municipal_maintenance;

grant usage on schema messaging, notification to municipal_console;

grant select (id, seq, sender, kind, phone, priority, state, reason, attempts, epoch, pool, account, rejections, accepted_at,
  not_before, held_until, expires_at, changed_at, sent_at, quiet_hours, run, is_open, lane, queue)
  on messaging.message to municipal_console;
grant select (paused, paused_at, answer, unresolved, unresolved_at) on messaging.control to municipal_console;
grant select (phone, locked_until, locked_at, paused_until, paused_at, stopped_at) on messaging.number to municipal_console;
grant select (number, phone, since) on messaging.contact to municipal_console;
grant select (pool, phone, account) on messaging.route to municipal_console;
grant select (id, sender, host, failures, disabled_at) on messaging.callback to municipal_console;
grant select (seq, callback_id, at, attempts, due_at, retry_until, given_up_at, last_status)
  on messaging.callback_event to municipal_console;
grant select (sender, expires_at, retires_at, revoked_at) on messaging.sender_credential to municipal_console;
grant select on messaging.account, messaging.ending, messaging.sender, messaging.sender_day, messaging.operator_act,
  messaging.operator_result, notification.run, notification.template to municipal_console;

reset role;
