import { randomUUID } from 'node:crypto';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { attemptDelivery, type DeliveryAttempt } from '@clinical-launch/deliveries/delivery-attempt';
import {
  type DeliveryResult,
  type DeliveryWorker,
  startDeliveryWorker,
} from '@clinical-launch/deliveries/delivery-worker';
import type { Outbox } from '@clinical-launch/events/event-bus';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { currentTraceparent } from '@clinical-launch/runtime/tracing';
import { eventSource } from '../domain/addresses.ts';
import { logoutTokenClaims } from '../domain/desktop-tokens.ts';
import type { Realms } from '../domain/realms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { DueLogout, Logouts } from '../store/logouts.ts';

type Dependencies = {
  readonly logouts: Logouts;
  readonly realms: Realms;
  readonly keyRing: KeyRing;
  readonly fetchOutbound: OutboundFetch;
  readonly events: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Delivers logout tokens (OpenID Connect Back-Channel Logout 1.0 section 2.5), each at least once. Retries a
 * failed delivery with increasing delays for twelve hours. Each attempt sends a new token with its own `jti`.
 */
export function startLogoutDelivery(dependencies: Dependencies): DeliveryWorker {
  const { logouts, events, clock, logger } = dependencies;
  return startDeliveryWorker<DueLogout>({
    what: 'logout token',
    slots: 8,
    pollMs: 5000,
    queue: logouts,
    deliver: (due, ending) => deliver(dependencies, due, ending),
    async settle(due, settlement, reported) {
      // Appends the events before storing the result. If the events cannot be appended, the logout token is
      // delivered again instead of being lost.
      await events.append(reported);
      await logouts.settle(due, settlement);
    },
    eventOf,
    factsOf: ({ launchId, realm, clientId }) => ({ correlationId: launchId, realm, clientId }),
    clock,
    logger,
  });
}

async function deliver(
  { realms, keyRing, fetchOutbound, clock }: Dependencies,
  { realm: name, clientId, launchId, traceparent }: DueLogout,
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  const realm = realms.find(name.split('/'));
  const address = realm?.desktop?.partners.get(clientId)?.backchannelLogoutUri;
  if (realm === undefined || address === undefined) return { outcome: 'failed', reason: 'unregistered' };
  const signer = await keyRing.signer(realm);
  const about = { issuer: realm.issuer, clientId, launchId, tokenId: randomUUID(), now: clock.now() };
  const token = signer.sign('logout+jwt', logoutTokenClaims(about));
  const send = () =>
    fetchOutbound(new URL(address), {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', traceparent },
      body: new URLSearchParams({ logout_token: token }).toString(),
      ignoresBody: true,
      signal,
    });
  return attemptDelivery(send, () => clock.now());
}

function eventOf({ due, attempt, isFinal, now }: DeliveryResult<DueLogout>): CloudEvent {
  const { launchId: correlationId, realm, clientId, attempts } = due;
  const traceparent = currentTraceparent() ?? due.traceparent;
  const origin = { source: eventSource, correlationId, traceparent, now: new Date(now) };
  const about = { realm, clientId, attempts };
  if (attempt.outcome === 'delivered') return createEvent('desktop.logout.delivered.v1', origin, about);
  const { reason, status } = attempt;
  const failed = { ...about, reason, ...withoutUndefined({ status }), isFinal };
  return createEvent('desktop.logout.delivery.failed.v1', origin, failed);
}
