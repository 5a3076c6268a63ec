export { createAttempts } from './attempts.ts';
export { attemptDelivery, type DeliveryAttempt } from './delivery-attempt.ts';
export { type DeliveryFailure, nextAttemptAt } from './delivery-retry.ts';
export { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';
export { readSharedEventKeys } from './event-keys.ts';
export {
  openBusPart,
  openRevocationsPart,
  openStoragePart,
  requireParts,
} from './parts.ts';
export { endAtStart, runProcess, stopOnSignal } from './process.ts';
export { startMetrics } from './process-metrics.ts';
export { createRefusals, type RefusalsOptions } from './refusals.ts';
export { reportRejectedEvents } from './rejected-events.ts';
export { releaseMemoryOfStart } from './release-memory.ts';
export { type FollowedRevocations, followRevocations } from './revocations.ts';
export { openSealers } from './sealing-keys.ts';
export { withSecretFiles } from './secret-files.ts';
export type { Service } from './service.ts';
export { createSharedRateLimiter } from './shared-rate-limit.ts';
export { type Mount, type StartedServices, startServices } from './start-services.ts';
export { openTicketParts, type TicketParts } from './ticket-parts.ts';
export { readTracing, startTracing } from './tracing.ts';
