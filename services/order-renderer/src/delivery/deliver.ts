import { callbackBody } from '@clinical-launch/contracts/order/callback';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { openCallbackSecrets, signatureHeaders } from '@clinical-launch/crypto/webhook-signature';
import { attemptDelivery, type DeliveryAttempt } from '@clinical-launch/deliveries/delivery-attempt';
import { createOutboundFetch, type ResolveName } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { CallbackConfig } from '../config.ts';
import { type ClientKey, findCallback } from '../domain/find-callback.ts';
import type { DueDelivery } from '../store/deliveries.ts';

/** The result of one attempt. An attempt also fails if the client has no valid secret that can be opened. */
export type Attempt = DeliveryAttempt<'no_usable_secret'>;
export type SettledAttempt = Exclude<Attempt, { outcome: 'interrupted' }>;

type Dependencies = {
  readonly config: CallbackConfig;
  readonly registry: RegistrySource;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Resolves host names. By default, uses the resolver of the system. */
  readonly resolveName?: ResolveName;
};

/** Returns whether this client has registered a callback address. */
export function isCallbackRegistered({ config, registry }: Dependencies, client: ClientKey): boolean {
  return findCallback(registry.current(), config.publicUrl, client) !== undefined;
}

/** Posts a document to the client's current callback address, signed with the client's current secrets. */
export async function deliver(
  dependencies: Dependencies,
  delivery: DueDelivery,
  stopping: AbortSignal,
): Promise<Attempt> {
  const { config, registry, sealer, clock } = dependencies;
  const callback = findCallback(registry.current(), config.publicUrl, delivery);
  if (callback === undefined) return { outcome: 'failed', reason: 'unregistered' };
  const now = clock.now();
  const secrets = openCallbackSecrets(callback, sealer, now);
  if (secrets.length === 0) return { outcome: 'failed', reason: 'no_usable_secret' };
  const body = callbackBody(delivery.document);
  const signature = signatureHeaders({ id: delivery.document.messageId, now, body, secrets });
  const headers = { ...signature, traceparent: delivery.traceparent };
  return post(dependencies, { url: callback.url, headers, body }, stopping);
}

async function post(
  { config, clock, resolveName }: Dependencies,
  { url: address, headers, body }: { url: string; headers: Readonly<Record<string, string>>; body: string },
  signal: AbortSignal,
): Promise<Attempt> {
  const { connectTimeoutMs, timeoutMs, allowedNetworks } = config;
  const fetchOutbound = createOutboundFetch({
    connectTimeoutMs,
    timeoutMs,
    allowedNetworks,
    ...withoutUndefined({ resolveName }),
  });
  const { url, isOperators } = reach(address, config);
  const send = () =>
    fetchOutbound(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body,
      isOperators,
      ignoresBody: true,
      signal,
    });
  return attemptDelivery(send, () => clock.now());
}

/**
 * Returns the address to connect to. Replaces the public address of the platform itself with the address
 * within the deployment.
 */
function reach(address: string, { publicUrl, platformUrl }: CallbackConfig) {
  const isOurs = platformUrl !== undefined && address.startsWith(`${publicUrl}/`);
  const url = new URL(isOurs ? platformUrl + address.slice(publicUrl.length) : address);
  return { url, isOperators: isOurs };
}
