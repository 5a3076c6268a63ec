import type { DeliveryFailure } from '@clinical-launch/contracts/refusals/delivery';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { OutboundError } from '@clinical-launch/http/outbound-error';
import type { OutboundAnswer } from '@clinical-launch/http/outbound-fetch';
import { readRetryAfter } from './delivery-retry.ts';

/** The result of a delivery attempt. A service may add its own failure reasons. */
export type DeliveryAttempt<Reason extends string = never> =
  | { readonly outcome: 'delivered'; readonly status: number }
  | {
      readonly outcome: 'failed';
      readonly reason: DeliveryFailure | Reason;
      readonly status?: number;
      readonly retryAfterMs?: number;
      /** The error, which is only logged. */
      readonly cause?: unknown;
    }
  /** The process stopped during the attempt, so the result is unknown. */
  | { readonly outcome: 'interrupted' };

/**
 * Calls `send`, and returns the result that follows from the status of the answer. 2xx means delivered. 410
 * ends the delivery. 429 and 503 may request a longer wait.
 * @param now returns milliseconds since 1970
 */
export async function attemptDelivery(
  send: () => Promise<Pick<OutboundAnswer, 'status' | 'headers'>>,
  now: () => number,
): Promise<DeliveryAttempt> {
  try {
    return judge(await send(), now());
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { code: reason, cause } = error;
    return reason === 'interrupted' ? { outcome: reason } : { outcome: 'failed', reason, cause };
  }
}

function judge(
  { status, headers }: Pick<OutboundAnswer, 'status' | 'headers'>,
  now: number,
): DeliveryAttempt {
  if (status >= 200 && status <= 299) return { outcome: 'delivered', status };
  const retryAfterMs =
    status === 429 || status === 503 ? readRetryAfter(headers['retry-after'], now) : undefined;
  return {
    outcome: 'failed',
    reason: reasonOf(status),
    status,
    ...withoutUndefined({ retryAfterMs }),
  };
}

/**
 * Returns the failure reason for a status. 410 means that the receiver accepts no more deliveries (Standard
 * Webhooks: Response status codes).
 */
function reasonOf(status: number): DeliveryFailure {
  if (status === 410) return 'gone';
  return status >= 300 && status <= 399 ? 'redirected' : 'not_accepted';
}
