-- The schema of release 1: order documents and their deliveries.
-- Integer columns contain versions, attempts and HTTP statuses, which always fit into 32 bits.
-- squawk-ignore-file prefer-bigint-over-int

-- The outbox: events wait here until the relay has published them (libs/storage/src/sql-outbox.ts).
create table order_renderer.outbox (
  id bigint generated always as identity primary key,
  event jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  rejected_at timestamptz
);

create table order_renderer.document (
  id bigint generated always as identity primary key,
  order_guid uuid not null,
  order_version integer not null,
  message_id uuid not null unique,
  event_id uuid not null unique,
  event_time timestamptz not null,
  launch_id uuid not null,
  practice_system text not null,
  practice_code text not null,
  xml text not null,
  rendered_at timestamptz not null,
  patient text
);
create index document_order_guid_event_time_idx on order_renderer.document (order_guid, event_time);
create index document_launch_id_idx on order_renderer.document (launch_id);

create table order_renderer.delivery (
  id bigint generated always as identity primary key,
  order_guid uuid not null,
  issuer text not null,
  client_id text not null,
  order_version integer not null,
  event_time timestamptz not null,
  -- The columns that all tables of deliveries share (libs/deliveries/src/delivery-table.ts).
  message_id uuid not null references order_renderer.document (message_id),
  receiver text not null generated always as (issuer || ' ' || client_id) stored,
  traceparent text not null,
  state text not null check (state in ('pending', 'delivered', 'dead')),
  attempts integer not null,
  waiting_since timestamptz not null,
  next_attempt_at timestamptz not null,
  give_up_at timestamptz,
  last_attempt_at timestamptz,
  last_status integer,
  last_failure text,
  lease uuid,
  leased_until timestamptz,
  unique (order_guid, issuer, client_id)
);
create index delivery_next_attempt_at_idx on order_renderer.delivery (next_attempt_at) where state = 'pending';
-- Excludes delivered rows, which are most of the rows and are rarely listed.
create index delivery_state_id_idx on order_renderer.delivery (state, id) where state <> 'delivered';
