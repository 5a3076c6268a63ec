import type { DeliveryColumns } from '@clinical-launch/deliveries/delivery-table';
import { readMigrations } from '@clinical-launch/storage/service-migration';
import type { Storage } from '@clinical-launch/storage/storage';
import type { JWK } from 'jose';
import type { ColumnType, Kysely, RawBuilder } from 'kysely';
import type { SigningAlgorithm } from '../domain/realms.ts';

export const schema = 'identity_provider';

/** A logout token to deliver to a partner application. */
type DeliveryTable = DeliveryColumns & { realm: string; client_id: string; launch_id: string };

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
  delivery: DeliveryTable;
};

export const migrations = readMigrations(new URL('migrations/', import.meta.url));

/** Opens the service's schema, migrated to the newest version. */
export const openSchema = (storage: Storage): Promise<Kysely<Tables>> =>
  storage.open<Tables>(schema, migrations);
