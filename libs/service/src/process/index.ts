export { attemptDelivery, type DeliveryAttempt } from './delivery-attempt.ts';
export { type DeliveryFailure, nextAttemptAt } from './delivery-retry.ts';
export { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';
export { readSharedEventKeys } from './event-keys.ts';
export {
  openBusPart,
  openRevocationsPart,
  openStoragePart,
  openTicketParts,
  requireParts,
  type TicketParts,
} from './parts.ts';
export { runProcess } from './process.ts';
export { createRefusals, type RefusalsOptions } from './refusals.ts';
export { reportRejectedEvents } from './rejected-events.ts';
export { openSealers } from './sealing-keys.ts';
export { withSecretFiles } from './secret-files.ts';
export { createSharedRateLimiter } from './shared-rate-limit.ts';
