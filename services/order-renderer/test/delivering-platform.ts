import { randomBytes, randomUUID } from 'node:crypto';
import { callbackSecretPurpose, type Registry } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createSealer } from '@clinical-launch/crypto/sealing';
import type { ResolveName } from '@clinical-launch/http/outbound-fetch';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { until } from '@clinical-launch/testing/until';
import { Webhook } from 'standardwebhooks';
import type { CallbackConfig } from '../src/config.ts';
import type { Received } from './callback-receiver.ts';
import { aConfig, startRendererPlatform } from './renderer-platform.ts';

/** The sealer that all replicas of a test share. */
export const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 'k') }]);

export const aSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
export const sealed = (secret: string, expires?: string) => ({
  sealed: sealer.seal(callbackSecretPurpose, secret, []),
  ...withoutUndefined({ expires }),
});

type Callback = { readonly url: string; readonly secrets: ReturnType<typeof sealed>[] };

/** Returns a registry whose demo realm contains clients with these callbacks. */
export const aRegistry = (callbacks: Readonly<Record<string, Callback>>): Registry => ({
  realms: [
    {
      realm: 'demo',
      clients: Object.entries(callbacks).map(([clientId, callback]) => ({
        clientId,
        name: clientId,
        secrets: [],
        scopes: ['ocs-launch.write'],
        callback,
      })),
    },
  ],
});

type Options = {
  readonly registry: Registry;
  readonly callbacks?: Partial<CallbackConfig>;
  readonly clock?: TestClock;
  readonly storage?: Storage;
  readonly resolveName?: ResolveName;
};

export type DeliveringPlatform = Awaited<ReturnType<typeof startDeliveringPlatform>>;

/** Starts a renderer that may post to this machine. A test can replace its registry at any time. */
export async function startDeliveringPlatform({ registry, callbacks, ...options }: Options) {
  const current = { registry };
  const clock = options.clock ?? new TestClock();
  const config = aConfig({ callbacks: { allowedNetworks: ['127.0.0.1/32'], ...callbacks } });
  const platform = await startRendererPlatform(config, {
    ...options,
    clock,
    sealer,
    registry: { current: () => current.registry },
  });
  /** Returns the events about the deliveries of this launch. */
  const deliveryStory = (launchId: string) =>
    platform.published
      .filter(({ correlationid }) => correlationid === launchId)
      .filter(({ type }) => type.includes('.deliver'))
      .map(({ type, data }) => [type, data] as const);
  return {
    ...platform,
    clock,
    register: (next: Registry) => (current.registry = next),
    deliveryStory,
    /** Waits for `count` events about the deliveries of this launch and returns them. */
    async awaitDeliveryEvents(launchId: string, count: number) {
      await until(() => deliveryStory(launchId).length >= count);
      return deliveryStory(launchId);
    },
    /** Returns the log lines about failed attempts to deliver the document of a launch. */
    failuresOf: (launchId: string) =>
      platform.lines.filter((line) => line.includes('document not delivered') && line.includes(launchId)),
    /** Submits an order in a new launch. */
    async order(
      changes: { orderVersion?: number; clientId?: string; guid?: string; familyName?: string } = {},
    ) {
      const submitted = { guid: randomUUID(), launchId: randomUUID(), ...changes };
      await platform.submit(submitted);
      return submitted;
    },
  };
}

/** Returns the secrets that signed a request, according to the reference library of Standard Webhooks. */
export function signersOf({ headers, body }: Received, secrets: readonly string[]): string[] {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  const signatures = String(headers['webhook-signature']).split(' ');
  return secrets.filter((secret) =>
    signatures.includes(new Webhook(secret).sign(String(headers['webhook-id']), at, body)),
  );
}
