import { sendText } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { ResourceApiConfig } from '../config.ts';
import { capabilityStatement } from '../domain/capability-statement.ts';
import { realmOf } from './addresses.ts';

/**
 * Publishes what the FHIR base of a realm offers: `GET {issuer}/metadata` (FHIR R4 RESTful API,
 * capabilities). Answers 404 for a realm without desktop launches.
 */
export function getCapabilityStatement(
  { publicUrl }: Pick<ResourceApiConfig, 'publicUrl'>,
  { registry }: { readonly registry: RegistrySource },
): Handler {
  return (exchange) => {
    const { response } = exchange;
    const statement = capabilityStatement(publicUrl, desktopRealmOf(exchange, registry));
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendText(response, 'application/fhir+json', JSON.stringify(statement));
  };
}

/** Returns the desktop realm in the path of a request. @throws ServiceError 404 */
export function desktopRealmOf(exchange: Parameters<typeof realmOf>[0], registry: RegistrySource): string {
  const realm = realmOf(exchange);
  const found = registry.current().realms.find((one) => one.realm === realm && one.desktop !== undefined);
  if (found === undefined) throw new ServiceError({ code: 'not_found', message: 'Realm not found' });
  return found.realm;
}
