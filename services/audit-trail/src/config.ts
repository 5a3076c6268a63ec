import { hkdfSync, type KeyObject } from 'node:crypto';
import { Type } from '@clinical-launch/contracts/type';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { createSealer, type Sealer } from '@clinical-launch/crypto/sealing';
import { readEd25519Keys } from '@clinical-launch/process/ed25519-settings';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import { readTelemetry, type Telemetry } from '@clinical-launch/process/telemetry-settings';
import {
  ConfigurationError,
  type Environment,
  inProduction,
  isProduction,
  readEnvironment,
  readTogether,
} from '@clinical-launch/runtime/environment';
import { type AuditKeys, auditKeysFrom } from './domain/checkpoint.ts';
import { type AuditPagesConfig, readAuditPagesConfig } from './pages-config.ts';

export type AuditTrailConfig = {
  readonly isProduction: boolean;
  /** The public address of the platform, for links. */
  readonly publicUrl: string;
  /** The keys that sign the checkpoints and seal the rows. */
  readonly keys: AuditKeys;
  readonly pseudonyms: PatientPseudonyms;
  /** The years for which a month of events is stored before it is deleted. */
  readonly retentionYears: number;
  /** The configuration of the pages at `/audit/`. Undefined if the pages are off. */
  readonly pages: AuditPagesConfig | undefined;
  /** The telemetry settings: whether events are sent as log records, and with which headers. */
  readonly telemetry: Telemetry;
};

/** The settings of the audit trail itself. Shared libraries read further settings. */
export const auditTrailSettings = Type.Object({
  AUDIT_RETENTION_YEARS: Type.Integer({
    default: 8,
    minimum: 1,
    maximum: 100,
    title: 'Years after which the events of a month are dropped.',
  }),
});

/** Reads the configuration of the audit trail. @throws ConfigurationError */
export function readAuditTrailConfig(environment: Environment): AuditTrailConfig {
  const { read, keys, pseudonyms, pages, telemetry } = readTogether({
    read: () => readEnvironment(auditTrailSettings, environment),
    keys: () => readAuditKeys(environment),
    pseudonyms: () => readPatientPseudonyms(environment),
    pages: () => readAuditPagesConfig(environment),
    telemetry: () => readTelemetry(environment),
  });
  return {
    isProduction: isProduction(environment),
    publicUrl: environment['PUBLIC_URL'] || 'http://localhost:8080',
    keys,
    pages: pages && { ...pages, sealer: sessionSealerFrom(keys) },
    pseudonyms,
    telemetry,
    retentionYears: read.AUDIT_RETENTION_YEARS,
  };
}

const keySetting = 'AUDIT_SIGNING_KEY';

export const auditKeySettings = {
  [keySetting]: Type.String({
    $comment: inProduction,
    title:
      'An Ed25519 key as a JWK, or a JWK set with the newest key first. It signs the checkpoints of the audit trail and seals its rows.',
  }),
};

/**
 * Reads the keys of the log, or derives them from `SEALING_KEYS`, or returns the keys of the demo.
 * @throws ConfigurationError if the keys are invalid or, in production, missing or the keys of the demo
 */
export const readAuditKeys = (environment: Environment): AuditKeys =>
  auditKeysFrom(readEd25519Keys(environment, { setting: keySetting, demo: 'audit' }));

/**
 * Creates the sealer of session cookies. Derives its key from the log's newest key (HKDF, RFC 5869), so that
 * a new log key ends all sessions.
 */
function sessionSealerFrom(keys: AuditKeys): Sealer {
  const key = hkdfSync('sha256', sealKeyFrom(keys).export(), '', 'clinical-launch audit sessions', 32);
  return createSealer([{ id: 'audit', key: Buffer.from(key) }]);
}

/** Returns the key that seals rows. @throws ConfigurationError if there are only public keys */
export function sealKeyFrom({ seals: [key] }: AuditKeys): KeyObject {
  if (key === undefined) throw new ConfigurationError([`${keySetting} must contain a private key`]);
  return key;
}
