import { issuerOf } from '@clinical-launch/contracts/addresses';
import type { RegisteredCallback, Registry } from '@clinical-launch/contracts/registry';

export type ClientKey = { readonly issuer: string; readonly clientId: string };

/**
 * Returns the callback of a client of one of our realms or of a trusted issuer. Returns undefined if the
 * client has no callback.
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
