export * from './config.ts';
export * from './domain/client-secrets.ts';
export { openSigningKeyTable } from './keys/signing-key-table.ts';
export * from './service.ts';
export { migrations } from './store/tables.ts';
