import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import type { SealPlace } from './sealing.ts';

type SubmittedOrder = Omit<EventData<'order.submitted.v1'>, 'sealed'>;

/**
 * Returns the place of the sealed order in an `order.submitted.v1`: its GUID, its version, its launch and its
 * client. So an event with another launch or client cannot open it.
 */
export const placeOfOrder = ({
  orderGuid,
  launchId,
  issuer,
  clientId,
  orderVersion = 1,
}: Pick<SubmittedOrder, 'orderGuid' | 'launchId' | 'issuer' | 'clientId' | 'orderVersion'>): SealPlace => [
  orderGuid,
  String(orderVersion),
  launchId,
  issuer,
  clientId,
];

/** Returns the place of a sealed context in an access token: the token (`jti`) and its launch (`sid`). */
export const placeOfTokenContext = ({
  tokenId,
  launchId,
}: {
  readonly tokenId: string;
  readonly launchId: string;
}): SealPlace => [tokenId, launchId];
