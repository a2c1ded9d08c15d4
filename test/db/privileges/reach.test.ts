import { expect, test } from "vitest";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { connectFor } from "../../steps/connections.ts";

/** Everything that a role may use. */
interface Reach {
  /** Functions that it may execute. */
  readonly functions: readonly string[];
  /** Its privileges on tables, views and sequences, or on single columns: `schema.table (column)`. */
  readonly relations?: Readonly<Record<string, string>>;
}

const read = "SELECT";
const append = "SELECT, INSERT";
const write = "SELECT, INSERT, UPDATE";
const all = "SELECT, INSERT, UPDATE, DELETE";
/** Reads single columns of a table. */
const columns = (table: string, names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [`${table} (${name})`, read]));

const reaches: Readonly<Record<LoginRole, Reach>> = {
  resident: {
    functions: ["resident.list", "resident.search", "resident.verify"],
  },
  tourism: {
    functions: [],
    relations: {
      "tourism.category": read,
      "tourism.photo": read,
    },
  },
  gatekeeper: {
    functions: ["messaging.authenticate_sender", "partner.authenticate"],
  },
  messenger: {
    functions: [
      "messaging.can_send",
      "messaging.end_unwanted",
      "messaging.find_in_run",
      "messaging.first_insert",
      "messaging.has_next_channel",
      "messaging.is_ready",
      "messaging.list_numbers",
      "messaging.may_have_arrived",
      "messaging.next_account",
      "messaging.quiet_until",
      "messaging.takes_from_pool",
      "messaging.today",
      "notification.add_opt_out",
      "notification.add_template",
      "notification.approve_template",
      "notification.cancel_bulk",
      "notification.close_bulk",
      "notification.is_opted_out",
      "notification.list_opted_out",
      "notification.list_sent_before",
      "notification.remove_opt_out",
      "notification.retire_template",
      "notification.start_bulk",
      "notification.store_bulk",
    ],
    relations: {
      "messaging.account": write,
      "messaging.answered": write,
      "messaging.auth_key": all,
      "messaging.callback": "SELECT, UPDATE",
      "messaging.callback_event": all,
      "messaging.contact": write,
      "messaging.control": write,
      "messaging.ending": write,
      "messaging.idempotency": all,
      "messaging.leadership": write,
      "messaging.media": all,
      "messaging.media_chunk": write,
      "messaging.message": write,
      "messaging.message_seq_seq": read,
      "messaging.number": write,
      "messaging.number_check": write,
      "messaging.operator_act": append,
      "messaging.operator_result": append,
      "messaging.payload": all,
      "messaging.route": write,
      "messaging.sender": read,
      "messaging.sender_day": write,
      "notification.run": read,
      "notification.template": read,
    },
  },
  console: {
    functions: [
      "messaging.can_send",
      "messaging.count_waiting",
      "messaging.is_ready",
      "messaging.takes_from_pool",
      "messaging.today",
      "notification.report_bulk",
    ],
    relations: {
      "messaging.account": read,
      ...columns("messaging.callback", "disabled_at failures host id sender"),
      ...columns(
        "messaging.callback_event",
        "at attempts callback_id due_at given_up_at last_status retry_until seq",
      ),
      ...columns("messaging.contact", "number phone since"),
      ...columns("messaging.control", "answer paused paused_at unresolved unresolved_at"),
      "messaging.ending": read,
      ...columns("messaging.message", "accepted_at account attempts changed_at epoch expires_at"),
      ...columns("messaging.message", "held_until id is_open kind lane not_before phone pool priority queue"),
      ...columns("messaging.message", "quiet_hours reason rejections run sender sent_at seq state"),
      ...columns("messaging.number", "locked_at locked_until paused_at paused_until phone stopped_at"),
      "messaging.operator_act": read,
      "messaging.operator_result": read,
      ...columns("messaging.route", "account phone pool"),
      "messaging.sender": read,
      ...columns("messaging.sender_credential", "expires_at retires_at revoked_at sender"),
      "messaging.sender_day": read,
      "notification.run": read,
      "notification.template": read,
    },
  },
  employee: {
    functions: [
      "employee.close_account",
      "employee.confirm_session",
      "employee.fail_attempt",
      "employee.limit_session",
      "employee.pass_attempt",
      "employee.release_attempt",
      "employee.reserve_attempt",
      "employee.spend_token",
      "employee.start_session",
    ],
  },
  "employee-ticket": {
    functions: [
      "employee.fail_attempt",
      "employee.owns_ticket",
      "employee.pass_attempt",
      "employee.release_attempt",
      "employee.reserve_attempt",
      "employee.store_ticket",
    ],
  },
  "employee-admin": {
    functions: ["employee.end_sessions", "employee.list_sessions", "employee.unlock_account"],
  },
  importer: {
    functions: [
      ...[
        "begin_import",
        "apply_changes",
        "fold_name",
        "list_stale_blocks",
        "mark_left",
        "read_names",
        "read_frequent_substrings",
      ],
      ...["sample_names", "split_block", "store_substring_counts", "store_frequent_substrings"],
    ].map((name) => `resident.${name}`),
    relations: {
      "office.alert": all,
      "office.appointment": all,
      "office.document": all,
      "office.on_call": all,
      "office.queue_ticket": all,
      "resident.correction (column_name)": read,
      "resident.correction (replaced)": read,
      "resident.correction (resident_id)": read,
      "resident.resident": write,
      "tourism.category": write,
      "tourism.photo": write,
    },
  },
  "partner-admin": {
    functions: ["partner.is_active", "resident.count_read_by"],
    relations: {
      "partner.api_key": write,
      "partner.partner": write,
    },
  },
  "sender-admin": {
    functions: ["messaging.count_waiting", "messaging.is_active", "messaging.today"],
    relations: {
      "messaging.account": write,
      "messaging.callback": all,
      "messaging.callback_event": "SELECT, UPDATE",
      ...columns("messaging.number", "phone locked_until paused_until"),
      "messaging.sender": write,
      "messaging.sender_credential": write,
      "messaging.sender_day": read,
    },
  },
  subject: {
    functions: [
      "resident.correct_subject",
      "resident.erase_subject",
      "resident.report_subject",
      "resident.restrict_subject",
    ],
  },
  "citizen-portal": { functions: ["resident.report_to_portal"] },
  maintenance: {
    functions: [
      "audit.expire_reads",
      "audit.extend_partitions",
      "audit.find_settled_id",
      "audit.list_unanchored",
      "audit.record_anchor",
      "audit.seal_reads",
      "audit.verify_seals",
      "city.delete_old",
      "city.retention",
      "resident.choose_blocks",
      "resident.count_outdated_names",
      "resident.apply_changes",
      "resident.list_bypassable_triggers",
      "resident.list_stale_blocks",
      "resident.merge_trigrams",
      "resident.read_names",
      "resident.read_substring_counts",
      "resident.read_status",
      "resident.read_frequent_substrings",
      "resident.rebuild_blocks",
      "resident.recount",
      "resident.refresh_names",
      "resident.restore_triggers",
      "resident.sample_names",
      "resident.split_block",
      "resident.store_substring_counts",
      "resident.store_frequent_substrings",
    ],
  },
  notify: {
    functions: [
      "audience.moment",
      "messaging.count_states",
      "messaging.end_unwanted",
      "messaging.list_numbers",
      "notification.add_opt_out",
      "notification.close_run",
      "notification.list_opted_out",
      "notification.remove_opt_out",
      "notification.store_outcomes",
    ],
    relations: {
      "audience.appointment_reminder": read,
      "audience.document_status": read,
      "audience.queue_ticket": read,
      "audience.system_alert": read,
      "notification.recipient": write,
      "notification.request": write,
      "notification.run": write,
      "notification.template": read,
    },
  },
};
const rows = (Object.keys(loginRoles) as LoginRole[]).map(
  (name) => [loginRoles[name], reaches[name]] as const,
);

test.each(rows)(
  "%s has exactly its privileges on tables, views, sequences and columns",
  async (role, { relations = {} }) => {
    const found = await connectFor("adminUrl")<{ name: string; privileges: string }[]>`
    with relation as (
      select c.oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    ), held as (
      select name, place, privilege from relation,
        unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) with ordinality of (privilege, place)
      where relkind <> 'S' and has_table_privilege(${role}, oid, privilege)
      union all
      select name, place, privilege from relation,
        unnest('{USAGE,SELECT,UPDATE}'::text[]) with ordinality of (privilege, place)
      where relkind = 'S' and has_sequence_privilege(${role}, oid, privilege)
      union all
      select format('%s (%s)', name, a.attname), place, privilege from relation
        join pg_attribute a on a.attrelid = oid and a.attnum > 0 and not a.attisdropped,
        unnest('{SELECT,INSERT,UPDATE,REFERENCES}'::text[]) with ordinality of (privilege, place)
      where relkind <> 'S' and has_column_privilege(${role}, oid, a.attnum, privilege)
        and not has_table_privilege(${role}, oid, privilege)
    )
    select name, string_agg(privilege, ', ' order by place) as privileges from held group by name`;
    expect(Object.fromEntries(found.map(({ name, privileges }) => [name, privileges]))).toEqual(relations);
  },
);

test.each(rows)("%s may execute exactly its functions", async (role, { functions }) => {
  const found = await connectFor("adminUrl")<{ name: string }[]>`
    select format('%I.%I', n.nspname, p.proname) as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname not in ('pg_catalog', 'information_schema')
      and has_schema_privilege(${role}, n.oid, 'USAGE') and has_function_privilege(${role}, p.oid, 'EXECUTE')
    order by 1`;
  // sorted like the names; everybody may know the city's time
  expect(found.map(({ name }) => name)).toEqual(
    [...(functions as readonly string[]), "city.time_zone"].toSorted(),
  );
});

test.each(Object.values(loginRoles))(
  "%s may not create temporary objects, schemas, or anything in a schema",
  async (role) => {
    const [row] = await connectFor("adminUrl")`
      select has_database_privilege(${role}, current_database(), 'TEMP, CREATE') as database,
        coalesce(bool_or(has_schema_privilege(${role}, oid, 'CREATE')), false) as schema
      from pg_namespace where nspname not like 'pg_temp%' and nspname not like 'pg_toast_temp%'`;
    expect(row).toEqual({ database: false, schema: false });
  },
);

test("every function that runs as its owner has a search path that ends in pg_temp", async () => {
  const functions = await connectFor("adminUrl")<{ name: string; path: string | null }[]>`
    select p.oid::regprocedure::text as name,
      (select setting from unnest(p.proconfig) setting where setting like 'search_path=%') as path
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where p.prosecdef and n.nspname not in ('pg_catalog', 'information_schema')`;
  expect(functions.length).toBeGreaterThan(30);
  expect(functions.filter(({ path }) => !path?.endsWith(", pg_temp"))).toEqual([]);
});
