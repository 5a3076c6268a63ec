export * from './store/delivery-desk.ts';
export { openSchema } from './store/documents.ts';
export type { DeliveryState } from './store/tables.ts';
