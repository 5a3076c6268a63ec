import type { IdentifierCheck } from '@clinical-launch/contracts/fhir/resources';
import type { Namespaces } from '@clinical-launch/contracts/namespaces';
import { Type } from '@clinical-launch/contracts/type';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import {
  isProduction,
  originSetting,
  publicUrlSetting,
  readEnvironment,
  readTogether,
} from '@clinical-launch/runtime/environment';
import {
  namespaceSettings,
  namespacesOf,
  xmlNamespaceSetting,
} from '@clinical-launch/runtime/namespace-settings';
import { readClientCertificateHeader } from '@clinical-launch/trust/proof-of-possession';

export type LaunchApiConfig = {
  readonly publicUrl: string;
  /** The origin at which browsers reach `/secureLaunch` (OLTR: `{oltr_server}`). */
  readonly oltrServer: string;
  readonly namespaces: Namespaces;
  /** The namespace of order documents (OLTR: `{xml_ns}`), for their published XML Schema. */
  readonly xmlNamespace: string;
  /** The lifetime of a launch token in seconds. */
  readonly launchTokenSeconds: number;
  readonly originatingIdRetentionDays: number;
  /** The check of national identifiers: `strict` refuses identifiers that identify nobody. */
  readonly identifierCheck: IdentifierCheck;
  /** The header in which the edge forwards client certificates. If absent, certificates are ignored. */
  readonly clientCertificateHeader?: string | undefined;
  readonly pseudonyms: PatientPseudonyms;
  readonly isProduction: boolean;
};

/** The settings of the launch API itself. Shared libraries read further settings. */
export const launchApiSettings = Type.Object({
  OLTR_SERVER: Type.Optional(
    originSetting('The origin at which browsers reach `/secureLaunch`. Without it, `PUBLIC_URL` is used.'),
  ),
  PUBLIC_URL: publicUrlSetting,
  ...namespaceSettings,
  XML_NS: xmlNamespaceSetting,
  // OLTR: Limits, "ten seconds or less"; Launch token states, "or the configured shorter limit".
  LAUNCH_TOKEN_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 10,
    default: 10,
    title: 'Seconds for which a launch URL is valid: 1 to 10.',
  }),
  ORIGINATING_ID_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    default: 400,
    title:
      "Days for which a practice system's identifier counts as used. If it is used again, the answer is 409.",
  }),
  IDENTIFIER_CHECK: Type.Enum(['lenient', 'strict'], {
    default: 'lenient',
    title: '`strict` refuses national identifiers that are mistyped, never issued or placeholders.',
  }),
});

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError with the names of the invalid variables, without their values
 */
export function readLaunchApiConfig(
  environment: Readonly<Record<string, string | undefined>>,
): LaunchApiConfig {
  const { read, pseudonyms } = readTogether({
    read: () => readEnvironment(launchApiSettings, environment),
    pseudonyms: () => readPatientPseudonyms(environment),
  });
  return Object.freeze({
    publicUrl: read.PUBLIC_URL,
    oltrServer: read.OLTR_SERVER ?? read.PUBLIC_URL,
    namespaces: namespacesOf(read),
    xmlNamespace: read.XML_NS,
    launchTokenSeconds: read.LAUNCH_TOKEN_SECONDS,
    originatingIdRetentionDays: read.ORIGINATING_ID_RETENTION_DAYS,
    identifierCheck: read.IDENTIFIER_CHECK,
    clientCertificateHeader: readClientCertificateHeader(environment),
    pseudonyms,
    isProduction: isProduction(environment),
  });
}
