import { defaultNamespaces, type Namespaces } from '@clinical-launch/contracts';
import { originSetting, readEnvironment } from '@clinical-launch/service';
import { Type } from 'typebox';

export type LaunchApiConfig = {
  /** {oltr_server}: the origin at which browsers reach `/secureLaunch`. */
  readonly oltrServer: string;
  readonly namespaces: Namespaces;
  /** OLTR: Limits, "ten seconds or less". */
  readonly launchTokenSeconds: number;
  readonly originatingIdRetentionDays: number;
  readonly maxPayloadBytes: number;
  /** Requests in any one second from one address; no limit when absent. */
  readonly requestsPerSecondPerAddress?: number;
  readonly isProduction: boolean;
};

const environmentSchema = Type.Object({
  OLTR_SERVER: Type.Optional(originSetting),
  PUBLIC_URL: originSetting,
  FHIR_NS: Type.String({ default: defaultNamespaces.fhir }),
  NHS_NS: Type.String({ default: defaultNamespaces.nhs }),
  HL7UK_NS: Type.String({ default: defaultNamespaces.hl7uk }),
  LAUNCH_TOKEN_SECONDS: Type.Integer({ minimum: 1, maximum: 10, default: 10 }),
  ORIGINATING_ID_RETENTION_DAYS: Type.Integer({ minimum: 1, default: 400 }),
  MAX_PAYLOAD_BYTES: Type.Integer({ minimum: 16_384, default: 262_144 }),
  REQUESTS_PER_SECOND_PER_ADDRESS: Type.Optional(Type.Integer({ minimum: 1 })),
  NODE_ENV: Type.Optional(Type.String()),
});

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError that names the faulty variables and prints no value.
 */
export function readLaunchApiConfig(
  environment: Readonly<Record<string, string | undefined>>,
): LaunchApiConfig {
  const read = readEnvironment(environmentSchema, environment);
  const perAddress = read.REQUESTS_PER_SECOND_PER_ADDRESS;
  return Object.freeze({
    oltrServer: read.OLTR_SERVER ?? read.PUBLIC_URL,
    namespaces: { fhir: read.FHIR_NS, nhs: read.NHS_NS, hl7uk: read.HL7UK_NS },
    launchTokenSeconds: read.LAUNCH_TOKEN_SECONDS,
    originatingIdRetentionDays: read.ORIGINATING_ID_RETENTION_DAYS,
    maxPayloadBytes: read.MAX_PAYLOAD_BYTES,
    ...(perAddress === undefined ? {} : { requestsPerSecondPerAddress: perAddress }),
    isProduction: read.NODE_ENV === 'production',
  });
}
