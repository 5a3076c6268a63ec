import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import type { SealPlace } from './sealing.ts';

type SubmittedOrder = Omit<EventData<'order.submitted.v1'>, 'sealed'>;

/**
 * Returns the place of a sealed order in an `order.submitted.v1`: its GUID, its version and the launch and
 * client that submitted it. An event that names another launch or client therefore cannot open it.
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
