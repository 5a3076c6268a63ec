import type { Outbox } from '@clinical-launch/events/event-bus';
import type { Relay } from '@clinical-launch/events/relay';
import type { Refusals } from '@clinical-launch/http/refusals';
import type { Attempts } from '@clinical-launch/limits/attempts';
import { createAttempts } from '@clinical-launch/limits/attempts';
import type { Limits } from '@clinical-launch/limits/limits';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import { readRefusalSettings } from '@clinical-launch/limits/refusal-settings';
import { createRefusals } from '@clinical-launch/limits/refusals';
import type { Claims } from '@clinical-launch/tickets/claims';
import type { TicketSealers } from '@clinical-launch/tickets/ticket-seals';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';
import type { PartOptions, RunningPart } from './part.ts';
import type { RelayTarget } from './ticket-relays.ts';

export type TicketParts = RunningPart & {
  readonly tickets: Tickets;
  readonly outbox: Outbox;
  /** The claims of the tickets, for the service that records them. */
  readonly claims: Claims;
  /** The access tokens that their clients revoked. */
  readonly revokedTokens: RevokedTokens;
  /** The sessions of staff that were ended by signing out. */
  readonly endedSessions: RevokedTokens;
  /** Counts the requests of clients that have a limit, for all replicas. */
  readonly limiter: RateLimiter;
  /** Slows down failed attempts to authenticate. */
  readonly attempts: Attempts;
  /** Limits and audits the refusals of this process. */
  readonly refusals: Refusals;
  /** Moves the outbox to the bus from now on; `stop` ends it with a last look. */
  startRelay(bus: RelayTarget): void;
};

export type TicketPartOptions = PartOptions & {
  /** The sealers of the kinds of tickets that this process works with. */
  readonly sealers?: TicketSealers;
  /**
   * Refuses claims, and is not ready, until all recorded claims are held. For services that issue tickets
   * with claims.
   */
  readonly requiresCompleteClaims?: boolean;
};

/** Creates what limits attempts and refusals, on the given limits. */
export function limitParts(
  { environment, clock, logger }: PartOptions,
  createLimits: (settings: { readonly mostEvents: number }) => Limits,
) {
  const { limit, combineSeconds, mostEvents } = readRefusalSettings(environment);
  const limits = createLimits({ mostEvents });
  return {
    attempts: createAttempts({ limits, clock, logger }),
    refusals: createRefusals({ limits, clock, logger, limit, combineSeconds }),
  };
}

type Running = { readonly refusals: Refusals; readonly relays: readonly Pick<Relay, 'stop'>[] };

/** Stops what a process runs on its tickets. */
export async function stopTicketParts({ refusals, relays }: Running): Promise<void> {
  await refusals.stop();
  for (const relay of relays) await relay.stop();
}
