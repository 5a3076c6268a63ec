export * from './config.ts';
export * from './service.ts';
export { openSchema } from './store/documents.ts';
export { migrations } from './store/tables.ts';
