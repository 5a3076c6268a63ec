export { type AuditTrailConfig, readAuditKeys, readAuditTrailConfig, sealKeyFrom } from './config.ts';
export { type AuditCursor, cursorText, readCursor } from './domain/audit-cursor.ts';
export type { AuditEntry } from './domain/audit-entry.ts';
export { type AuditKeys, auditKeyOf } from './domain/audit-keys.ts';
export type { AuditOutcome } from './domain/audit-row.ts';
export { type AuditTrailDependencies, auditTrail } from './service.ts';
export {
  type AuditCriteria,
  createAuditSearch,
  type SearchAudit,
} from './store/audit-search.ts';
export { createAuditStore } from './store/audit-store.ts';
export { type AuditDatabase, migrations, openSchema } from './store/tables.ts';
