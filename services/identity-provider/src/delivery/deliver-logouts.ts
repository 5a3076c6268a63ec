import { randomUUID } from 'node:crypto';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { attemptDelivery, type DeliveryAttempt } from '@clinical-launch/deliveries/delivery-attempt';
import { nextAttemptAt } from '@clinical-launch/deliveries/delivery-retry';
import { type DeliveryWorker, startDeliveryWorker } from '@clinical-launch/deliveries/delivery-worker';
import type { Outbox } from '@clinical-launch/events/event-bus';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { currentTraceparent } from '@clinical-launch/runtime/tracing';
import { eventSource } from '../domain/addresses.ts';
import { logoutTokenClaims } from '../domain/logout-token.ts';
import type { Realms } from '../domain/realms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { type DueLogout, type Logouts, receiverOf } from '../store/logouts.ts';

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
 * failed delivery with growing waits for twelve hours. Each attempt sends a new token with its own `jti`.
 */
export function startLogoutDelivery(dependencies: Dependencies): DeliveryWorker {
  const { logouts, clock, logger } = dependencies;
  return startDeliveryWorker<DueLogout>({
    slots: 8,
    pollMs: 5000,
    claim: (busy) => logouts.claim(clock.now(), busy),
    nextDueAt: (busy) => logouts.nextDueAt(clock.now(), busy),
    attempt: (due, ending) => attemptOnce(dependencies, due, ending),
    receiverOf,
    what: 'logout tokens',
    clock,
    logger,
  });
}

async function attemptOnce(dependencies: Dependencies, due: DueLogout, ending: AbortSignal): Promise<void> {
  const { logouts, events, clock, logger } = dependencies;
  const attempt = await deliver(dependencies, due, ending);
  if (attempt.outcome === 'interrupted') return logouts.giveBack(due);
  const now = clock.now();
  const next = attempt.outcome === 'delivered' ? undefined : whenAgain(due, attempt, now);
  const isFinal = next === undefined;
  report(logger, { due, attempt, isFinal });
  // Append the events before settling: if this fails, the token is delivered again instead of forgotten.
  await events.append(eventsOf({ due, attempt, isFinal, now }));
  await logouts.settle(due, {
    state: attempt.outcome === 'delivered' ? 'delivered' : isFinal ? 'dead' : 'pending',
    nextAttemptAt: next,
    status: attempt.status,
    failure: attempt.outcome === 'failed' ? attempt.reason : undefined,
  });
}

/** Posts a logout token to the address that its partner has registered now. */
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

type Failed = Extract<DeliveryAttempt, { outcome: 'failed' }>;
type Settled = Exclude<DeliveryAttempt, { outcome: 'interrupted' }>;

function whenAgain(due: DueLogout, { reason, retryAfterMs }: Failed, now: number): number | undefined {
  const { attempts, giveUpAt } = due;
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  return nextAttemptAt({ reason, attempts, now, giveUpAt, random: Math.random(), ...asked });
}

type Outcome = { readonly due: DueLogout; readonly attempt: Settled; readonly isFinal: boolean };

/** Logs no address, because it may contain a secret of the receiver. */
function report(logger: Logger, { due, attempt, isFinal }: Outcome): void {
  const { launchId: correlationId, realm, clientId, attempts } = due;
  const facts = { correlationId, realm, clientId, attempts };
  if (attempt.outcome === 'delivered') return logger.info(facts, 'logout token delivered');
  const { reason, status } = attempt;
  if (isFinal) return logger.error({ ...facts, reason, status }, 'stopped delivering a logout token');
  logger.warn({ ...facts, reason, status }, 'logout token not delivered');
}

/**
 * Reports only the first and the last failure: a receiver that is down for hours causes two events, not
 * twenty.
 */
function eventsOf({ due, attempt, isFinal, now }: Outcome & { readonly now: number }): CloudEvent[] {
  const { launchId: correlationId, realm, clientId, attempts } = due;
  const traceparent = currentTraceparent() ?? due.traceparent;
  const origin = { source: eventSource, correlationId, traceparent, now: new Date(now) };
  const about = { realm, clientId, attempts };
  if (attempt.outcome === 'delivered') return [createEvent('desktop.logout.delivered.v1', origin, about)];
  if (!isFinal && attempts > 1) return [];
  const { reason, status } = attempt;
  const failed = { ...about, reason, ...(status === undefined ? {} : { status }), isFinal };
  return [createEvent('desktop.logout.delivery.failed.v1', origin, failed)];
}
