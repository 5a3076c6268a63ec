import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { listIn, RedisUnavailable } from '@clinical-launch/redis/redis-scripts';
import type { PresentedTicket, TicketSeals } from './ticket-format.ts';
import type { AdditionalIssue, ChainUseOutcome, Issue, Redemption } from './tickets.ts';

/**
 * Reads the reply of issue.lua. @throws RedisUnavailable while claims are being restored after a loss of data
 */
export function readIssue(reply: unknown, ticket: string): Issue {
  if (reply === 'incomplete') {
    throw new RedisUnavailable('Redis lost its data. Identifiers are being restored. Try again', {
      retryAfterSeconds: 2,
    });
  }
  return reply === 'claimed' ? { outcome: 'claimed' } : { outcome: 'issued', ticket };
}

/** Reads the reply of issue-additional.lua. */
export function readAdditionalIssue(
  reply: unknown,
  { ticket, correlationId }: { readonly ticket: string; readonly correlationId: string },
): AdditionalIssue {
  const [outcome, waitMs] = textsOf(reply);
  switch (outcome) {
    case 'issued':
      return { outcome, ticket, correlationId };
    case 'limited':
      return { outcome, waitSeconds: Number(waitMs) / 1000, correlationId };
    case 'unknown':
    case 'mismatch':
    case 'used-proof':
      return { outcome };
    default:
      throw new Error(`The script returned the unknown outcome ${String(outcome)}`);
  }
}

/**
 * Reads the reply of redeem.lua, and opens the content of the ticket.
 * @param successorBy returns the successor that was derived with the keys that have the given ids, one after
 * the other
 * @throws RedisUnavailable right after a restart or a failover, for a ticket that was issued before it
 */
export function readRedemption(
  reply: unknown,
  { seals, presented }: { readonly seals: TicketSeals; readonly presented: PresentedTicket },
  successorBy: (keyIds?: string) => string | undefined,
): Redemption {
  const [outcome, text = '', endsInMs, context, detail, derivedBy] = textsOf(reply);
  switch (outcome) {
    case 'redeemed':
    case 'repeated': {
      const opened = seals.open(presented, { correlationId: text, context, detail, endsInMs });
      if (opened === undefined) return { outcome: 'unknown' };
      const successor = successorBy(derivedBy);
      return { outcome, ...opened, ...withoutUndefined({ successor }) };
    }
    case 'used':
    case 'mismatch':
      return {
        outcome,
        correlationId: presented.chain.correlationId,
        ...seals.openNotice(presented, text),
      };
    case 'unknown':
      return { outcome, ...seals.openNotice(presented, text) };
    case 'used-proof':
      return { outcome };
    case 'exhausted':
      return {
        outcome,
        correlationId: presented.chain.correlationId,
        ...(endsInMs === undefined ? {} : { chainEndsInSeconds: Number(endsInMs) / 1000 }),
      };
    case 'guarded':
      throw new RedisUnavailable(
        'Redis has restarted or failed over. Older tickets are not accepted yet. Try again',
        {
          retryAfterSeconds: Math.ceil(Number(text) / 1000),
        },
      );
    default:
      throw new Error(`The redemption script returned the unknown outcome ${String(outcome)}`);
  }
}

/** Reads the reply of use-chain.lua. */
export function readChainUse(reply: unknown): ChainUseOutcome {
  const [outcome, waitMs] = textsOf(reply);
  switch (outcome) {
    case 'accepted':
    case 'used-proof':
      return { outcome };
    case 'limited':
      return { outcome, waitSeconds: Number(waitMs) / 1000 };
    default:
      throw new Error(`The script returned the unknown outcome ${String(outcome)}`);
  }
}

/** Returns the items of a list, with undefined in place of items that are not text. */
export const textsOf = (reply: unknown): readonly (string | undefined)[] =>
  listIn(reply).map((item) => (typeof item === 'string' ? item : undefined));
