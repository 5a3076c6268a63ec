-- The schema of release 1: signing keys, and logout tokens to deliver.
-- Integer columns contain seconds, attempts and HTTP statuses, which always fit into 32 bits.
-- squawk-ignore-file prefer-bigint-over-int

create table identity_provider.signing_key (
  kid text primary key,
  realm text not null,
  algorithm text not null,
  public_jwk jsonb not null,
  sealed_private_jwk text not null,
  signs_from timestamptz not null,
  longest_token_seconds integer not null,
  -- Two keys of a realm never start to sign at the same time, even without the lock.
  unique (realm, signs_from)
);

-- Logout tokens to deliver. The message id is the id of the event that revoked the launch.
create table identity_provider.delivery (
  id bigint generated always as identity primary key,
  realm text not null,
  client_id text not null,
  launch_id uuid not null,
  -- The columns that all tables of deliveries share (libs/deliveries/src/delivery-table.ts).
  message_id uuid not null unique,
  receiver text not null generated always as (realm || ' ' || client_id) stored,
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
  leased_until timestamptz
);
create index delivery_next_attempt_at_idx on identity_provider.delivery (next_attempt_at) where state = 'pending';
