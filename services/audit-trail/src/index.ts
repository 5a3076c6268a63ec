export * from './service.ts';
export { createAuditStore, openSchema } from './store/audit-store.ts';
