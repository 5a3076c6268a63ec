import { issuerOf } from '@clinical-launch/contracts/realm-addresses';
import type { RegisteredCallback, Registry } from '@clinical-launch/contracts/registry';

/** A client as its tokens name it. */
export type ClientKey = { readonly issuer: string; readonly clientId: string };

/**
 * Returns the callback that this client registered: in one of our realms, or through an identity provider
 * that we trust.
 */
export function findCallback(
  { realms, trustedIssuers = [] }: Registry,
  publicUrl: string,
  { issuer, clientId }: ClientKey,
): RegisteredCallback | undefined {
  const ours = realms.map(({ realm, clients }) => ({ issuer: issuerOf(publicUrl, realm), clients }));
  const owner = [...ours, ...trustedIssuers].find((one) => one.issuer === issuer);
  return owner?.clients.find((client) => client.clientId === clientId)?.callback;
}
