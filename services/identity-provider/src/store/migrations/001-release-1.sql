-- The schema of release 1: signing keys, and logout tokens to deliver.
-- Integers are seconds, attempts and statuses of HTTP, which never reach 32 bits.
-- squawk-ignore-file prefer-bigint-over-int

create table identity_provider.signing_key (
  kid text primary key,
  realm text not null,
  algorithm text not null,
  public_jwk jsonb not null,
  sealed_private_jwk text not null,
  signs_from timestamptz not null,
  longest_token_seconds integer not null,
  -- Only one key at a time begins to sign in a realm, also without the lock.
  unique (realm, signs_from)
);

create table identity_provider.logout (
  id uuid primary key,
  realm text not null,
  client_id text not null,
  launch_id uuid not null,
  traceparent text not null,
  state text not null check (state in ('pending', 'delivered', 'dead')),
  attempts integer not null,
  waiting_since timestamptz not null,
  next_attempt_at timestamptz not null,
  give_up_at timestamptz,
  last_status integer,
  last_failure text,
  lease uuid,
  leased_until timestamptz
);
create index logout_due on identity_provider.logout (next_attempt_at) where state = 'pending';
