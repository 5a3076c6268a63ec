import { createHash, hkdfSync } from 'node:crypto';
import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import { createSealer, type SealBinding, type Sealer, type SealingKey } from './sealing.ts';

/**
 * The purposes of sealing keys. A process has only the keys of the purposes that it needs:
 *
 * - `launch`: contexts of launch tokens and launch sessions (OLTR)
 * - `desktop`: contexts of launch identifiers, authorization codes and refresh tokens
 * - `access-token`: the launch context in the access token of a desktop launch
 * - `signing-key`: private keys of the identity provider in its database
 * - `order`: orders in events for the order renderer
 * - `callback`: signing secrets of callbacks in the registry
 */
export const sealingPurposes = [
  'launch',
  'desktop',
  'access-token',
  'signing-key',
  'order',
  'callback',
] as const;

export type SealingPurpose = (typeof sealingPurposes)[number];

/**
 * A sealer for each purpose. A service accepts a `Pick<Sealers, ...>` with only the purposes that it needs.
 */
export type Sealers = Readonly<Record<SealingPurpose, Sealer>>;

/** The purposes whose stored seals may come from releases that did not derive a key for each purpose. */
const longLived: readonly SealingPurpose[] = ['signing-key', 'callback'];

/**
 * Creates the sealer of a purpose. Derives its keys from the configured keys and the purpose (HKDF-SHA-256,
 * RFC 5869). Purposes that share a configured key therefore cannot open each other's seals. The sealers for
 * signing keys and callback secrets also open seals that older releases made with the configured key itself.
 * @throws TypeError for invalid keys, as `createSealer` does
 */
export function createPurposeSealer(purpose: SealingPurpose, keys: readonly SealingKey[]): Sealer {
  if (keys.some(({ key }) => key.length !== 32)) throw new TypeError('A sealing key must have 32 bytes');
  const info = `clinical-launch sealing ${purpose}`;
  const derived = keys.map(({ id, key }) => ({
    id,
    key: Buffer.from(hkdfSync('sha256', key, '', info, 32)),
  }));
  return createSealer(derived, longLived.includes(purpose) ? keys : []);
}

/** Creates the sealers of all purposes from the same keys, for a process that runs all services. */
export const createSealers = (keys: readonly SealingKey[]): Sealers => ({
  launch: createPurposeSealer('launch', keys),
  desktop: createPurposeSealer('desktop', keys),
  'access-token': createPurposeSealer('access-token', keys),
  'signing-key': createPurposeSealer('signing-key', keys),
  order: createPurposeSealer('order', keys),
  callback: createPurposeSealer('callback', keys),
});

/**
 * The sealing key of the demo. It is a constant in the source code, so that all processes of the demo have
 * the same key after a restart. Production refuses this key.
 */
export const demoSealingKey = {
  id: 'demo',
  key: createHash('sha256').update('clinical-launch demo sealing key').digest(),
};

type SubmittedOrder = Omit<EventData<'order.submitted.v1'>, 'sealed'>;

/**
 * Returns the texts that bind the sealed order to its event `order.submitted.v1`: the GUID and the version of
 * the order, its launch, and its client. A sealed order that was copied to an event with another launch or
 * client therefore cannot be opened.
 */
export const bindingOfOrder = ({
  orderGuid,
  launchId,
  issuer,
  clientId,
  orderVersion = 1,
}: Pick<SubmittedOrder, 'orderGuid' | 'launchId' | 'issuer' | 'clientId' | 'orderVersion'>): SealBinding => [
  orderGuid,
  String(orderVersion),
  launchId,
  issuer,
  clientId,
];

export const tokenContextPurpose = 'access-token-context';

/** Returns the texts that bind the sealed launch context to its access token: the claims `jti` and `sid`. */
export const bindingOfTokenContext = ({
  tokenId,
  launchId,
}: {
  readonly tokenId: string;
  readonly launchId: string;
}): SealBinding => [tokenId, launchId];
