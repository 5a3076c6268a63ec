import { sendText } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { ResourceApiConfig } from '../config.ts';
import { capabilityStatement } from '../domain/capability-statement.ts';
import { desktopRealmOf } from './addresses.ts';

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
