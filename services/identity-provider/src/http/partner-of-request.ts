import type { RegisteredPartner } from '@clinical-launch/contracts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';

/**
 * The partner application that a request names by `client_id`; undefined when it names none. It is a public client: what
 * it holds makes it believable, so credentials, which nothing could check, are refused.
 * @throws TokenRefusal
 */
export function identifyPartner({
  realm,
  parameters,
  authorization,
}: {
  realm: DesktopIssuingRealm;
  parameters: ReadonlyMap<string, string>;
  authorization: string | undefined;
}): RegisteredPartner | undefined {
  if (authorization !== undefined || parameters.has('client_secret')) {
    throw new TokenRefusal('partner_with_secret');
  }
  const clientId = parameters.get('client_id');
  if (clientId === undefined) return undefined;
  const partner = realm.desktop.partners.get(clientId);
  if (partner === undefined) throw new TokenRefusal('unknown_partner');
  return partner;
}
