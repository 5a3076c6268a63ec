import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import type { SealPlace } from './sealing.ts';

type SubmittedOrder = Omit<EventData<'order.submitted.v1'>, 'sealed'>;

/**
 * Returns the texts that bind the sealed order to its event `order.submitted.v1`: the GUID and the version of
 * the order, its launch, and its client. A sealed order that was copied to an event with another launch or
 * client therefore cannot be opened.
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

export const tokenContextPurpose = 'access-token-context';

/** Returns the texts that bind the sealed launch context to its access token: the claims `jti` and `sid`. */
export const placeOfTokenContext = ({
  tokenId,
  launchId,
}: {
  readonly tokenId: string;
  readonly launchId: string;
}): SealPlace => [tokenId, launchId];
