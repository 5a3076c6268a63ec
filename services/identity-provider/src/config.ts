import { Type } from '@clinical-launch/contracts/type';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import {
  isProduction,
  readEnvironment,
  readTogether,
  supportLineSetting,
} from '@clinical-launch/runtime/environment';
import { readClientCertificateHeader } from '@clinical-launch/trust/proof-of-possession';

export type IdentityProviderConfig = {
  /** The public address of the platform. Every issuer is below it. */
  readonly publicUrl: string;
  /** The audience of access tokens, and the prefix of the scope `<APP_ID_URI>/.default`. */
  readonly audience: string;
  readonly isProduction: boolean;
  readonly supportLine?: string | undefined;
  readonly pseudonyms: PatientPseudonyms;
  /** The header in which the edge forwards client certificates. If absent, certificates are ignored. */
  readonly clientCertificateHeader?: string | undefined;
};

/**
 * Returns the environment schema of the identity provider. In production, the public address must be https,
 * because clients send secrets and receive tokens there (RFC 6749 section 3.2).
 */
export function identityProviderEnvironment({ isProduction }: { isProduction: boolean }) {
  return Type.Object({
    PUBLIC_URL: Type.String({
      pattern: isProduction ? '^https://[^?#\\s]*[^/?#\\s]$' : '^https?://[^?#\\s]*[^/?#\\s]$',
      description: `must be an ${isProduction ? 'https' : 'http or https'} address that does not end with a slash`,
    }),
    AUDIENCE: Type.String({
      default: 'api://clinical-launch',
      pattern: '^[!#-\\[\\]-~]*[!#-.0-\\[\\]-~]$',
      description: 'must be an APP_ID_URI: no spaces or quotes, and no slash at the end',
    }),
    SUPPORT_LINE: supportLineSetting,
  });
}

/**
 * Reads the configuration of the identity provider from environment variables.
 * @throws TypeError with the names of the invalid variables
 */
export function readIdentityProviderConfig(
  environment: Readonly<Record<string, string | undefined>>,
): IdentityProviderConfig {
  const production = isProduction(environment);
  const { read, pseudonyms } = readTogether({
    read: () => readEnvironment(identityProviderEnvironment({ isProduction: production }), environment),
    pseudonyms: () => readPatientPseudonyms(environment),
  });
  return {
    publicUrl: read.PUBLIC_URL,
    audience: read.AUDIENCE,
    supportLine: read.SUPPORT_LINE,
    isProduction: production,
    pseudonyms,
    clientCertificateHeader: readClientCertificateHeader(environment),
  };
}
