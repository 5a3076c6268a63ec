export * from './config.ts';
export * from './domain/client-secrets.ts';
export * from './service.ts';
export { openSigningKeyTable } from './store/signing-key-table.ts';
