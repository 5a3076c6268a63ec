import type { IdentifierCheck } from '@clinical-launch/contracts/fhir/resource-rules';
import type { Namespaces } from '@clinical-launch/contracts/namespaces';
import { Type } from '@clinical-launch/contracts/type';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import {
  originSetting,
  publicUrlSetting,
  readEnvironment,
  readTogether,
} from '@clinical-launch/runtime/environment';
import { isProduction } from '@clinical-launch/runtime/mode';
import {
  namespaceSettings,
  namespacesOf,
  xmlNamespaceSetting,
} from '@clinical-launch/runtime/namespace-settings';
import { readClientCertificateHeader } from '@clinical-launch/trust/client-certificate';

export type LaunchApiConfig = {
  /** The origin at which backends reach this service. */
  readonly publicUrl: string;
  /** {oltr_server}: the origin at which browsers reach `/secureLaunch`. */
  readonly oltrServer: string;
  readonly namespaces: Namespaces;
  /** {xml_ns}: of the order documents whose XML Schema is published here. */
  readonly xmlNamespace: string;
  readonly originatingIdRetentionDays: number;
  /** Whether national identifiers must be valid in their systems. */
  readonly identifierCheck: IdentifierCheck;
  /** The header in which the edge forwards client certificates; without it, certificates are ignored. */
  readonly clientCertificateHeader?: string | undefined;
  /** The names of patients in audit events. */
  readonly pseudonyms: PatientPseudonyms;
  readonly isProduction: boolean;
};

/** The settings of the launch API alone. */
export const launchApiSettings = Type.Object({
  OLTR_SERVER: Type.Optional(
    originSetting('The origin at which browsers reach `/secureLaunch`. Without it: `PUBLIC_URL`.'),
  ),
  PUBLIC_URL: publicUrlSetting,
  ...namespaceSettings,
  XML_NS: xmlNamespaceSetting,
  ORIGINATING_ID_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    default: 400,
    title:
      "Days for which a practice system's identifier counts as used. A repetition within them is answered 409.",
  }),
  IDENTIFIER_CHECK: Type.Enum(['lenient', 'strict'], {
    default: 'lenient',
    title: '`strict` refuses national identifiers with a wrong form or check digit.',
  }),
});

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError that names the invalid variables and prints no value
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
    originatingIdRetentionDays: read.ORIGINATING_ID_RETENTION_DAYS,
    identifierCheck: read.IDENTIFIER_CHECK,
    clientCertificateHeader: readClientCertificateHeader(environment),
    pseudonyms,
    isProduction: isProduction(environment),
  });
}
