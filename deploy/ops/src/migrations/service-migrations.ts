import { migrations as ofAuditTrail } from '@clinical-launch/audit-trail';
import { migrations as ofIdentityProvider } from '@clinical-launch/identity-provider';
import { migrations as ofOrderRenderer } from '@clinical-launch/order-renderer';
import { migrations as ofOrdering } from '@clinical-launch/ordering';
import type { ServiceMigrations } from '@clinical-launch/storage';
import { databaseAccess, type ServiceName } from '../service-access.ts';
import type { RowRights } from './breaking-changes.ts';

/** A schema of the database: its migrations, and the rights of its service. */
export type ServiceSchema = {
  readonly schema: string;
  readonly migrations: ServiceMigrations;
  readonly rights: RowRights;
  /** Lost rights, each with the reason why processes of the previous release work nevertheless. */
  readonly compatible?: Readonly<Record<string, string>>;
};

const migrationsOf: Readonly<Partial<Record<ServiceName, ServiceMigrations>>> = {
  'audit-trail': ofAuditTrail,
  'identity-provider': ofIdentityProvider,
  'order-renderer': ofOrderRenderer,
  ordering: ofOrdering,
};

/** Every schema of the database, as this release has it. */
export const serviceSchemas: readonly ServiceSchema[] = Object.entries(databaseAccess).map(
  ([service, { schema, compatible = {}, ...rights }]) => {
    const migrations = migrationsOf[service as ServiceName];
    if (migrations === undefined) throw new TypeError(`The migrations of ${service} are not listed`);
    return { schema, migrations, rights, compatible };
  },
);
