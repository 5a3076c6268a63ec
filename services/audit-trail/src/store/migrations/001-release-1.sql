-- The schema of release 1. The log contains one row for each event, partitioned by the month of the event's
-- time. Triggers reject every change. The service's role owns nothing. It calls two functions of the owner to
-- create partitions and to drop partitions that are out of retention. The only integer column contains an
-- HTTP status.
-- squawk-ignore-file prefer-bigint-over-int

create table audit_trail.audit_event (
  sequence bigint not null,
  id uuid not null,
  time timestamptz not null,
  correlation_id uuid not null,
  launch_id uuid,
  trace_id text collate "C" not null,
  source text collate "C" not null,
  type text collate "C" not null,
  outcome text collate "C" not null,
  reason text collate "C",
  status integer,
  issuer text collate "C",
  client_id text collate "C",
  user_name text collate "C",
  user_key text collate "C",
  user_display text collate "C",
  practice text collate "C",
  practice_name text collate "C",
  patient text collate "C",
  address text collate "C",
  action text collate "C",
  order_guid uuid,
  order_references text[] collate "C",
  originating_id text collate "C",
  is_late boolean not null,
  event text collate "C" not null,
  hash bytea not null,
  seal bytea not null,
  primary key (id, time)
) partition by range (time);

-- An index for each search criterion, ordered by time.
create index on audit_trail.audit_event (time, sequence);
create index on audit_trail.audit_event (correlation_id, time);
create index on audit_trail.audit_event (launch_id, time) where launch_id is not null;
create index on audit_trail.audit_event (client_id, time) where client_id is not null;
create index on audit_trail.audit_event (user_key, time) where user_key is not null;
create index on audit_trail.audit_event (practice, time) where practice is not null;
create index on audit_trail.audit_event (patient, time) where patient is not null;
create index on audit_trail.audit_event (type, time);
create index on audit_trail.audit_event (action, time) where action is not null;
create index on audit_trail.audit_event (reason, time) where reason is not null;
create index on audit_trail.audit_event (outcome, time) where outcome <> 'success';
create index on audit_trail.audit_event (address, time) where address is not null;
create index on audit_trail.audit_event (order_guid, time) where order_guid is not null;
create index on audit_trail.audit_event (originating_id, time) where originating_id is not null;
create index on audit_trail.audit_event using gin (order_references) with (fastupdate = off)
  where order_references is not null;
-- The few launches that were stored after some of their events.
create index on audit_trail.audit_event (client_id, time) where is_late;
create index on audit_trail.audit_event (user_key, time) where is_late;
create index on audit_trail.audit_event (practice, time) where is_late;
create index on audit_trail.audit_event (patient, time) where is_late;
-- The patients on lists of requests. A list shows many patients, so they are not in a column.
create index on audit_trail.audit_event
  using gin ((event::jsonb -> 'data' -> 'patients') jsonb_path_ops) with (fastupdate = off)
  where type = 'orders.listed.v1';

create table audit_trail.checkpoint (
  number bigint primary key,
  partition text not null,
  sequence bigint not null,
  kind text not null,
  signed_at timestamptz not null,
  jws text not null
);
create index on audit_trail.checkpoint (partition, sequence);

-- The clients that have launched, to find the hash of a caller's identifier when the client is not known.
create table audit_trail.launching_client (
  issuer text not null,
  client_id text not null,
  primary key (issuer, client_id)
);

-- The users and practices that have launched, to find an exact username or code by part of a name.
create table audit_trail.known_user (
  name text collate "C" not null,
  display text collate "C" not null,
  practice text collate "C" not null,
  practice_name text collate "C" not null,
  primary key (name, practice)
);

-- Callers' identifiers, stored only as hashes.
create table audit_trail.originating_id (
  name text primary key,
  holder text not null,
  claimed_at bigint not null,
  expires_at bigint not null
);
create index originating_id_by_expiry on audit_trail.originating_id (expires_at);

-- The progress of background work. The rows of this table are not audit events.
create table audit_trail.progress (
  name text primary key,
  place bigint not null,
  at timestamptz not null
);

create function audit_trail.refuse_change() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    raise exception 'Rows of the audit trail are never changed or removed' using errcode = '42501';
  end $$;

create trigger append_only before update or delete or truncate on audit_trail.audit_event
  for each statement execute function audit_trail.refuse_change();
create trigger append_only before update or delete or truncate on audit_trail.checkpoint
  for each statement execute function audit_trail.refuse_change();

-- Creates a table and attaches it. Creating a partition directly would wait for every reader of the log.
create function audit_trail.ensure_partition(wanted text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    year integer;
    month integer;
  begin
    if wanted !~ '^audit_event_[0-9]{4}_(0[1-9]|1[0-2])$' then
      raise exception 'The name of the partition is invalid';
    end if;
    perform pg_advisory_xact_lock(hashtext('audit_trail partitions'));
    if to_regclass('audit_trail.' || wanted) is not null then
      return;
    end if;
    if exists (select from audit_trail.checkpoint where partition = wanted and kind = 'drop') then
      raise exception 'The partition of this month is out of retention';
    end if;
    year := substr(wanted, 13, 4)::integer;
    month := substr(wanted, 18, 2)::integer;
    execute format('create table audit_trail.%I (like audit_trail.audit_event including storage)', wanted);
    execute format('create unique index on audit_trail.%I (sequence)', wanted);
    execute format('create trigger append_only before update or delete or truncate on audit_trail.%I
      for each statement execute function audit_trail.refuse_change()', wanted);
    execute format('alter table audit_trail.audit_event attach partition audit_trail.%I
      for values from (%L) to (%L)', wanted,
      make_timestamptz(year, month, 1, 0, 0, 0, 'UTC'),
      make_timestamptz(year + month / 12, month % 12 + 1, 1, 0, 0, 0, 'UTC'));
  end $$;

-- Drops the partition of a month. Refuses if the month ended less than a year ago by the database's clock
-- (the minimum retention period).
create function audit_trail.drop_partition(wanted text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    has_rows boolean;
  begin
    if wanted !~ '^audit_event_[0-9]{4}_(0[1-9]|1[0-2])$'
      or substr(wanted, 13) >= to_char((now() - interval '13 months') at time zone 'UTC', 'YYYY_MM')
    then
      raise exception 'This partition is not out of retention' using errcode = '42501';
    end if;
    if to_regclass('audit_trail.' || wanted) is null then
      return;
    end if;
    execute format('select exists (select from audit_trail.%I)', wanted) into has_rows;
    if has_rows and not exists (select from audit_trail.checkpoint where partition = wanted and kind = 'drop') then
      raise exception 'This partition has no checkpoint' using errcode = '42501';
    end if;
    execute format('drop table audit_trail.%I', wanted);
  end $$;
