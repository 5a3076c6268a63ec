export { networkOf, plainAddress } from './address.ts';
export { preferredType, sendJson, sendText, setHeaders } from './answer.ts';
export { readForm, readJson } from './body.ts';
export { type Call, callOf, guidForm } from './call.ts';
export { allowAnyOrigin, anyOriginHeaders } from './cross-origin.ts';
export type { DirectRoute } from './direct-routes.ts';
export {
  type ErrorDialect,
  errorEdge,
  hasProblemBody,
  oauthDialect,
  problemDialect,
  ServiceError,
  temporarilyUnavailable,
  tooMany,
} from './errors.ts';
export {
  type DirectExchange,
  directEndpoint,
  type Exchange,
  endpoint,
  type Handler,
  openToAll,
  type RefusalAudit,
} from './exchange.ts';
export { countLaunchRefusals } from './launch-refusals.ts';
export { createNetworkGuard } from './network-guard.ts';
export { operationOutcome } from './operation-outcome.ts';
export { OutboundError } from './outbound-error.ts';
export {
  asResponse,
  createOutboundFetch,
  type OutboundFetch,
  type OutboundOptions,
  type ResolveName,
} from './outbound-fetch.ts';
export { loopbackNetworks, parseNetworks, readAllowedNetworks } from './outbound-settings.ts';
export { publishDocument } from './published-document.ts';
export { createRateLimiter, type LocalRateLimiter, type RateLimiter } from './rate-limit.ts';
export type { Refusals } from './refusals.ts';
export { authorizationOf, queryOf } from './request-target.ts';
export { createRouter } from './router.ts';
export {
  createAdminApp,
  createApp,
  listen,
  type Mounted,
  type Patience,
  patience,
  type RunningServer,
} from './server.ts';
export { isSpeculative } from './speculative.ts';
