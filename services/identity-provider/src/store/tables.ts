import type { ServiceMigrations, Storage } from '@clinical-launch/storage';
import type { JWK } from 'jose';
import { type ColumnType, type Kysely, type RawBuilder, sql } from 'kysely';
import type { SigningAlgorithm } from '../domain/realms.ts';

/** The service's schema. */
export const schema = 'identity_provider';

type Time = ColumnType<Date, Date, Date>;
type OptionalTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

/** A logout token to deliver to a partner application. */
type LogoutTable = {
  /** The id of the event that revoked the launch. */
  id: string;
  realm: string;
  client_id: string;
  launch_id: string;
  traceparent: string;
  state: 'pending' | 'delivered' | 'dead';
  /** Attempts that were started, including the current one. */
  attempts: number;
  waiting_since: Time;
  next_attempt_at: Time;
  /** Set by the first attempt. */
  give_up_at: OptionalTime;
  last_status: number | null;
  last_failure: string | null;
  /** The process that currently holds the delivery; no other process delivers it until the lease ends. */
  lease: string | null;
  leased_until: OptionalTime;
};

export type Tables = {
  signing_key: {
    kid: string;
    realm: string;
    algorithm: SigningAlgorithm;
    public_jwk: ColumnType<JWK, RawBuilder<JWK>, never>;
    sealed_private_jwk: string;
    signs_from: ColumnType<Date, Date, never>;
    longest_token_seconds: number;
  };
  logout: LogoutTable;
};

/** The migrations of the service's schema, in order. */
export const migrations: ServiceMigrations = {
  '0001-signing-key': {
    async up(db) {
      // Only one key at a time begins to sign in a realm; the constraint enforces it even without the lock.
      await sql`create table ${sql.id(schema)}.signing_key (
        kid text primary key,
        realm text not null,
        algorithm text not null,
        public_jwk jsonb not null,
        sealed_private_jwk text not null,
        signs_from timestamptz not null,
        longest_token_seconds integer not null,
        unique (realm, signs_from)
      )`.execute(db);
    },
  },
  '0002-logout': {
    async up(db) {
      await sql`create table ${sql.id(schema)}.logout (
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
      )`.execute(db);
      await sql`create index logout_due on ${sql.id(schema)}.logout (next_attempt_at)
        where state = 'pending'`.execute(db);
    },
  },
};

/** Opens the service's schema, at its newest migration. */
export const openSchema = (storage: Storage): Promise<Kysely<Tables>> =>
  storage.open<Tables>(schema, migrations);
