import { Type } from '@clinical-launch/contracts/type';
import { type Environment, publicUrlSetting, readEnvironment } from '@clinical-launch/runtime/environment';
import { readClientCertificateHeader } from '@clinical-launch/trust/client-certificate';

export type ResourceApiConfig = {
  /** The origin at which partners reach the platform; DPoP proofs name it. */
  readonly publicUrl: string;
  /** The header in which the edge forwards client certificates; without it, certificates are ignored. */
  readonly clientCertificateHeader?: string | undefined;
};

/** The settings of the resource API alone. */
export const resourceApiSettings = Type.Object({ PUBLIC_URL: publicUrlSetting });

/**
 * Reads the service's configuration from the environment. @throws ConfigurationError that names the invalid
 * variables
 */
export function readResourceApiConfig(environment: Environment): ResourceApiConfig {
  const read = readEnvironment(resourceApiSettings, environment);
  return Object.freeze({
    publicUrl: read.PUBLIC_URL,
    clientCertificateHeader: readClientCertificateHeader(environment),
  });
}
