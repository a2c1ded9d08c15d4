import { expect, test } from "vitest";
import { connectFor } from "../../steps/connections.ts";
import { expectDenied, refusal } from "./refusal.ts";

test("the employee role cannot read sessions or attempts by any statement", async () => {
  const sql = connectFor("employeeUrl");
  await expectDenied(sql, [
    "select * from employee.session",
    "select digest from employee.refresh_token",
    "select count(*) from employee.attempt",
    "delete from employee.attempt",
    "update employee.session set ended_at = null",
    "select employee.tally('', '', '', now())",
    "select employee.owns_ticket('', '')",
    "select * from employee.ticket",
    "select * from employee.known_network",
    "select resident.list(1, 1, 'p', 'k', 'r')",
    "select partner.authenticate('')",
    "create temp table t (x int)",
    "set role municipal_owner",
  ]);
});

test("the importer cannot give a type of its own to the function that counts its rows", async () => {
  const sql = connectFor("importerUrl");
  await expectDenied(sql, [
    "create domain pg_temp.text as pg_catalog.text check (current_user <> 'municipal_owner')",
    "create temp table new_rows (created_at timestamp, id bigint)",
  ]);
});

test("the importer may write residents but not the audit, keys or the schema", async () => {
  const sql = connectFor("importerUrl");
  await expectDenied(sql, [
    "select * from audit.resident_read",
    "select * from partner.api_key",
    "delete from resident.resident",
    "truncate resident.resident",
    "alter table resident.resident add x int",
    "drop table resident.resident",
  ]);
});

test("the notify role reads all audiences, also later ones, but not the tables behind them", async () => {
  const sql = connectFor("notifyUrl");
  const views = await connectFor("adminUrl")<{ name: string }[]>`
    select format('audience.%I', viewname) as name from pg_views where schemaname = 'audience'`;
  expect(views.length).toBeGreaterThanOrEqual(4);
  for (const { name } of views) expect(await refusal(sql, `select * from ${name}`)).toBeUndefined();
  await expectDenied(sql, [
    ...["appointment", "queue_ticket", "document", "on_call", "alert"].map(
      (table) => `select * from office.${table}`,
    ),
    "update audience.appointment_reminder set phone = phone",
    "create view audience.mine as select 1",
    "select * from messaging.message",
    "select phone from messaging.contact",
    "select city.delete_old('messaging.message')",
    "delete from notification.run",
    "update notification.template set text = 'x'",
    "update notification.template set approver = 'budi'",
    "insert into notification.template (name, version, text, author) values ('x', 1, 'x', 'sari')",
    "select notification.add_template('x', 'x', 'bulk', '{}', 'sari')",
    "select notification.start_bulk('x', 'reminder', 1)",
    "delete from notification.template",
    "select digest from notification.opt_out",
    "update notification.opt_out set since = now()",
    "delete from notification.opt_out",
    "select * from resident.resident",
    "set role municipal_owner",
  ]);
});

test("the messenger's role reads only the runs of notifications, and opts single numbers out", async () => {
  const sql = connectFor("messengerUrl");
  for (const statement of ["select * from notification.run", "select notification.remove_opt_out('')"])
    expect(await refusal(sql, statement)).toBeUndefined();
  await expectDenied(sql, [
    ...["recipient", "request", "opt_out"].map((table) => `select * from notification.${table}`),
    "update notification.run set state = 'done'",
    "select notification.store_outcomes('appointment-reminder', now(), gen_random_uuid(), '[]')",
    "select notification.close_run(gen_random_uuid(), null)",
    "update notification.template set approver = 'budi'",
    "update notification.opt_out set since = now()",
    "select digest from notification.opt_out",
    "delete from notification.opt_out",
    "insert into notification.opt_out (digest, pepper_version) values ('', 1)",
    "select * from audience.appointment_reminder",
    "select * from office.appointment",
  ]);
});

test("the console's role reads messages without what they say, and writes nothing", async () => {
  const sql = connectFor("consoleUrl");
  expect(await refusal(sql, "select id, state, reason from messaging.message")).toBeUndefined();
  await expectDenied(sql, [
    ...["content", "media_id", "message", "*"].map((shown) => `select ${shown} from messaging.message`),
    "select content ->> 'text' from messaging.message",
    "select id from messaging.message where content::text like '%a%'",
    ...["payload", "media", "media_chunk", "auth_key", "idempotency", "number_check", "answered"].map(
      (table) => `select count(*) from messaging.${table}`,
    ),
    ...["url", "secret", "previous_secret"].map((column) => `select ${column} from messaging.callback`),
    "select digest from messaging.sender_credential",
    "select message_id from messaging.callback_event",
    ...["recipient", "request", "opt_out"].map((table) => `select count(*) from notification.${table}`),
    "select notification.is_opted_out('')",
    "update messaging.control set paused = true",
    "update messaging.message set state = 'CANCELLED'",
    "delete from messaging.operator_act",
    "insert into messaging.operator_result (act, result) values (1, 'done')",
    "select notification.cancel_bulk('march')",
    "select notification.approve_template('news', 1, 'budi')",
    "select messaging.end_unwanted('{}')",
    "select id from messaging.message for update",
    "set role municipal_messenger",
  ]);
});
