export * from './config.ts';
export * from './domain/client-secrets.ts';
export * from './domain/production-registry.ts';
export * from './service.ts';
