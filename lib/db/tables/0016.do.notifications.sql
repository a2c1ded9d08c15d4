-- The outcomes of notifications, the templates that operators write, and who has opted out.
set role municipal_owner;

-- A job at one scheduled time, or a bulk run, with the number of recipients by outcome.
create table notification.run (
  id uuid primary key default gen_random_uuid(),
  -- unknown jobs are recorded too, as failed; of a bulk run, bulk:<name>
  job text not null check (length(job) <= 100),
  -- of a bulk run, whose recipients come from a file
  template text check (length(template) <= 100),
  -- and how many recipients the file has that it read last
  lines integer,
  scheduled_at timestamptz not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed', 'cancelled')),
  -- of a failure, without personal data
  reason text,
  accepted integer not null default 0,
  opted_out integer not null default 0,
  refused integer not null default 0,
  expired integer not null default 0,
  started_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  unique (job, scheduled_at)
);
create index run_by_change on notification.run (changed_at);
-- most have no recipients
create index run_with_content on notification.run (scheduled_at desc, job)
  where state = 'failed' or accepted + opted_out + refused + expired > 0;
create unique index run_of_bulk on notification.run (job) where template is not null;

-- The outcome for each recipient, without number and text: the key identifies it to the city.
create table notification.recipient (
  job text not null,
  -- the scheduled time, or -infinity for a job that notifies once ever
  occasion timestamptz not null,
  dedupe_key text not null,
  -- the last run with this recipient
  run_id uuid references notification.run on delete set null,
  outcome text not null check (outcome in ('accepted', 'opted_out', 'refused', 'expired')),
  -- of a rejection, without personal data
  reason text,
  -- in the outbox
  message_id text,
  -- of a bulk run: the line, the start of the digest of its file, and the number, masked
  line integer,
  file text,
  masked text,
  -- when it was last in the audience, or when its message of a bulk run is due; it is deleted a month later
  seen_at timestamptz not null default now(),
  primary key (job, occasion, dedupe_key)
);
create index recipient_of_run on notification.recipient (run_id, outcome);
create index recipient_by_age on notification.recipient (seen_at);

-- The outcome of a single notification, requested by an event or an operator.
create table notification.request (
  id text primary key,
  template text not null check (length(template) <= 100),
  outcome text not null check (outcome in ('accepted', 'opted_out', 'refused', 'expired', 'failed')),
  -- of a rejection or failure, without personal data
  reason text,
  message_id text,
  changed_at timestamptz not null default now()
);
create index request_by_age on notification.request (changed_at);

-- Texts that operators change without a deployment. The latest approved version replaces the template in code.
create table notification.template (
  name text not null check (name ~ '^[a-z0-9-]{1,60}$'),
  version integer not null,
  -- {{name}} stands for a value
  text text not null check (length(text) between 1 and 4096),
  -- of a template that code does not have: its class, and the rule of each value
  class text check (class in ('transactional', 'reminder', 'bulk')),
  parameters jsonb,
  -- an operator: the account with which the console has checked the login
  author text not null check (length(author) <= 600),
  created_at timestamptz not null default now(),
  -- of a version that is sent; a draft has none
  approver text check (length(approver) <= 600 and lower(approver) <> lower(author)),
  approved_at timestamptz,
  retired_at timestamptz,
  primary key (name, version)
);

-- HMACs of the numbers that get no reminders and no bulk messages.
create table notification.opt_out (
  digest bytea primary key check (octet_length(digest) = 32),
  pepper_version integer not null,
  since timestamptz not null default now()
);

grant select, insert, update on notification.run, notification.recipient, notification.request to municipal_notify;
-- what was approved stays as it was
grant select on notification.template to municipal_notify, municipal_messenger;

-- counts and states, no recipients
grant usage on schema notification to municipal_messenger;
grant select on notification.run to municipal_messenger;

reset role;
