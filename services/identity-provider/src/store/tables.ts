import { readMigrations } from '@clinical-launch/storage/service-migration';
import type { Storage } from '@clinical-launch/storage/storage';
import type { JWK } from 'jose';
import type { ColumnType, Kysely, RawBuilder } from 'kysely';
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

/** The migrations of the service's schema. */
export const migrations = readMigrations(new URL('migrations/', import.meta.url));

/** Opens the service's schema, at its newest migration. */
export const openSchema = (storage: Storage): Promise<Kysely<Tables>> =>
  storage.open<Tables>(schema, migrations);
