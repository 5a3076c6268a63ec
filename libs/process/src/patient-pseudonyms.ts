import { hash } from 'node:crypto';
import { Type } from '@clinical-launch/contracts/type';
import { createPatientPseudonyms, type PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import {
  ConfigurationError,
  type Environment,
  inProduction,
  isProduction,
} from '@clinical-launch/runtime/environment';
import { deriveFromSealingKeys } from './sealing-keys.ts';

const setting = 'PATIENT_PSEUDONYM_KEY';
/** The setting that contains the pseudonym key, for docs/reference/settings.md. */
export const pseudonymSettings = {
  [setting]: Type.String({
    $comment: inProduction,
    title:
      "The key of the patients' pseudonyms in audit events and of the ids of FHIR resources, 32 bytes in Base64URL: the same in every service. Keep it as long as the audit trail, because earlier events cannot be found under another key.",
  }),
};
/**
 * The demo key. It is public, so that all processes of the demo share it, even after a restart. Production
 * refuses it.
 */
const demoKey = hash('sha256', 'clinical-launch demo pseudonym key', 'buffer');

/**
 * Reads the key of the patients' pseudonyms in audit events, `PATIENT_PSEUDONYM_KEY`: 32 bytes in Base64URL.
 * All services must have the same key for the lifetime of the audit trail. Without the setting, derives the
 * key from `SEALING_KEYS` or uses the key of the demo.
 * @throws ConfigurationError when the key is invalid or, in production, missing or the demo key
 */
export const readPatientPseudonyms = (environment: Environment): PatientPseudonyms =>
  createPatientPseudonyms(readKey(environment));

function readKey(environment: Environment): Buffer {
  const production = isProduction(environment);
  const text = environment[setting];
  if (!text) {
    const shared = deriveFromSealingKeys(environment, setting);
    if (shared === undefined && production) throw new ConfigurationError([`${setting} is not set`]);
    return shared ?? demoKey;
  }
  const [, written = ''] = /^\s*([\w-]{43})=?\s*$/.exec(text) ?? [];
  const key = Buffer.from(written, 'base64url');
  if (key.length !== 32) throw new ConfigurationError([`${setting} must be 32 bytes in Base64URL`]);
  if (production && key.equals(demoKey))
    throw new ConfigurationError([`${setting} is the key of the demo, which is publicly known`]);
  return key;
}
