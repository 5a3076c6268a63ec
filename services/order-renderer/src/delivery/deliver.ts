import { callbackSecretPurpose, type RegisteredCallback, type Sealer } from '@clinical-launch/contracts';
import type { Clock, RegistrySource } from '@clinical-launch/service';
import type { CallbackConfig } from '../config.ts';
import { callbackBody, signatureHeaders } from '../domain/callback-message.ts';
import { type ClientKey, findCallback } from '../domain/find-callback.ts';
import { createNetworkGuard } from '../domain/network-guard.ts';
import { type FailureReason, readRetryAfter } from '../domain/retry.ts';
import type { DueDelivery } from '../store/deliveries.ts';
import { type PostResult, postCallback, type ResolveName, resolveBySystem } from './post-callback.ts';

/** What became of one attempt. */
export type Attempt =
  | { readonly outcome: 'delivered'; readonly status: number }
  | {
      readonly outcome: 'failed';
      readonly reason: FailureReason;
      readonly status?: number;
      readonly retryAfterMs?: number;
      /** For the log. */
      readonly cause?: unknown;
    }
  /** This process is stopping; nothing is known of the receiver. */
  | { readonly outcome: 'interrupted' };

type Needs = {
  readonly config: CallbackConfig;
  readonly registry: RegistrySource;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** The system's, unless it is another. */
  readonly resolveName?: ResolveName;
};

/** Whether there is an address to which the documents of this client are to be posted. */
export function isCallbackRegistered({ config, registry }: Needs, client: ClientKey): boolean {
  return findCallback(registry.current(), config.publicUrl, client) !== undefined;
}

/**
 * Posts a document to the address that its client has registered at this moment, signed with the secrets that it has
 * at this moment.
 */
export async function deliver(needs: Needs, delivery: DueDelivery, stopping: AbortSignal): Promise<Attempt> {
  const { config, registry, sealer, clock, resolveName: resolve = resolveBySystem } = needs;
  const callback = findCallback(registry.current(), config.publicUrl, delivery);
  if (callback === undefined) return { outcome: 'failed', reason: 'unregistered' };
  const now = clock.now();
  const secrets = openSecrets(callback, sealer, now);
  if (secrets.length === 0) return { outcome: 'failed', reason: 'no_usable_secret' };
  const body = callbackBody(delivery.document);
  const headers = signatureHeaders({ id: delivery.document.messageId, now, body, secrets });
  const { url, isOperators } = reach(callback.url, config);
  const { connectTimeoutMs, timeoutMs, allowedNetworks } = config;
  const guard = createNetworkGuard(allowedNetworks);
  const terms = { guard, resolve, isOperators, connectTimeoutMs, timeoutMs, signal: stopping };
  return judge(await postCallback({ url, headers, body }, terms), now);
}

/** One that cannot be opened here must not keep the other from signing. */
function openSecrets({ secrets }: RegisteredCallback, sealer: Sealer, now: number): string[] {
  const live = secrets.filter(({ expires }) => expires === undefined || Date.parse(expires) > now);
  return live.flatMap(({ sealed }) => {
    try {
      const opened = sealer.open(callbackSecretPurpose, sealed);
      return typeof opened === 'string' ? [opened] : [];
    } catch {
      return [];
    }
  });
}

/** An address of the platform itself is reached as this deployment says, and not as browsers do. */
function reach(address: string, { publicUrl, platformUrl }: CallbackConfig) {
  const isOurs = platformUrl !== undefined && address.startsWith(`${publicUrl}/`);
  const url = new URL(isOurs ? platformUrl + address.slice(publicUrl.length) : address);
  return { url, isOperators: isOurs };
}

function judge(result: PostResult, now: number): Attempt {
  if (result.outcome !== 'answered') return result;
  const { status, retryAfter } = result;
  if (status >= 200 && status <= 299) return { outcome: 'delivered', status };
  const retryAfterMs = status === 429 || status === 503 ? readRetryAfter(retryAfter, now) : undefined;
  return {
    outcome: 'failed',
    reason: reasonOf(status),
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** 410 is the receiver's word that it wants no more (Standard Webhooks: Response status codes). */
function reasonOf(status: number): FailureReason {
  if (status === 410) return 'gone';
  return status >= 300 && status <= 399 ? 'redirected' : 'not_accepted';
}
