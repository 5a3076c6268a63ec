export * from './claims.ts';
export * from './in-memory-tickets.ts';
export * from './limits/in-memory-limits.ts';
export * from './limits/limits.ts';
export * from './revocations/in-memory-revoked-tokens.ts';
export * from './revocations/revoked-tokens.ts';
export type { TicketSealers } from './ticket-seals.ts';
export { launchOf } from './ticket-text.ts';
export * from './tickets.ts';
