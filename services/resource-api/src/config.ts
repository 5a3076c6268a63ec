import type { Namespaces } from '@clinical-launch/contracts/namespaces';
import { Type } from '@clinical-launch/contracts/type';
import { type Environment, publicUrlSetting, readEnvironment } from '@clinical-launch/runtime/environment';
import { namespaceSettings } from '@clinical-launch/runtime/namespace-settings';
import { readClientCertificateHeader } from '@clinical-launch/trust/proof-of-possession';

export type ResourceApiConfig = {
  /** The origin at which partners reach the platform. The `htu` of a DPoP proof starts with this origin. */
  readonly publicUrl: string;
  /** The base URIs of identifier systems in FHIR resources. */
  readonly namespaces: Pick<Namespaces, 'nhs'>;
  /** The header in which the edge forwards client certificates. If absent, certificates are ignored. */
  readonly clientCertificateHeader?: string | undefined;
};

/** The settings of the resource API itself. Shared libraries read further settings. */
export const resourceApiSettings = Type.Object({
  PUBLIC_URL: publicUrlSetting,
  NHS_NS: namespaceSettings.NHS_NS,
});

/**
 * Reads the service's configuration from the environment.
 * @throws ConfigurationError with the names of the invalid variables
 */
export function readResourceApiConfig(environment: Environment): ResourceApiConfig {
  const read = readEnvironment(resourceApiSettings, environment);
  return Object.freeze({
    publicUrl: read.PUBLIC_URL,
    namespaces: { nhs: read.NHS_NS },
    clientCertificateHeader: readClientCertificateHeader(environment),
  });
}
