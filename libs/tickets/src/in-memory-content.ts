import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { type Chain, nameTicket } from './ticket-format.ts';
import type { FoundTicket, RedeemRequest, Redemption, Successor, TicketKind } from './tickets.ts';

export type Content = {
  readonly context: string;
  readonly detail: string | undefined;
  readonly challenge: string | undefined;
  readonly correlationId: string;
  /** The time at which the chain ends, in milliseconds since 1970; Infinity for a chain without an end. */
  readonly endsAt: number;
  mismatches?: number;
  /** When the ticket was redeemed, in milliseconds since 1970. */
  readonly redeemedAt?: number;
  /**
   * The additional ticket of this ticket (`issueAdditional`), and the times of the issues that still count
   * towards the limit.
   */
  beside?: { readonly key: string; readonly issuedAt: readonly number[] };
};

/** Returns the name under which the content of a ticket is stored. */
export const keyOf = (kind: TicketKind, ticket: string) =>
  `${kind}:${createHash('sha256').update(ticket).digest('base64url')}`;

/** Returns the successor with its ticket, which is random or derived from the predecessor's ticket. */
export function nameSuccessor(
  successor: Successor | undefined,
  predecessor: { readonly ticket: string; readonly chain: Chain },
  derivationKey: Buffer,
): (Successor & { readonly ticket: string }) | undefined {
  if (successor === undefined) return undefined;
  const own = successor.isDerived
    ? createHmac('sha256', derivationKey).update(keyOf(successor.kind, predecessor.ticket)).digest()
    : randomBytes(32);
  return { ...successor, ticket: nameTicket(predecessor.chain, own) };
}

/** Returns the seconds from `now` until the chain ends; Infinity for a chain without an end. */
export const secondsUntilEnd = ({ endsAt }: Content, now: number): number => (endsAt - now) / 1000;

/** Returns the content that a caller receives at the time `now`. */
export function found(content: Content, now: number): FoundTicket {
  const { context, detail, correlationId, endsAt } = content;
  return {
    context: JSON.parse(context),
    detail: detail === undefined ? undefined : JSON.parse(detail),
    correlationId,
    ...(Number.isFinite(endsAt) ? { chainEndsInSeconds: secondsUntilEnd(content, now) } : {}),
  };
}

/** Returns the outcome of a redemption beyond the limit of its chain. */
export const exhausted = ({ correlationId, chainEndsInSeconds }: FoundTicket): Redemption => ({
  outcome: 'exhausted',
  correlationId,
  ...withoutUndefined({ chainEndsInSeconds }),
});

/** Returns whether the ticket has no challenge, or one of the proofs equals its challenge. */
export const isProven = ({ challenge }: Content, { proofs = [] }: Pick<RedeemRequest, 'proofs'>): boolean =>
  challenge === undefined || proofs.some((proof) => isEqual(proof, challenge));

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
