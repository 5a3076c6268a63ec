import { createPatientPseudonyms, type PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Environment } from '@clinical-launch/runtime/environment';
import { readSecretKey } from './secret-key.ts';

/**
 * Reads the key of the patients' pseudonyms in audit events, `PATIENT_PSEUDONYM_KEY`: the same for all
 * services and for the lifetime of the audit trail.
 * @throws ConfigurationError as `readSecretKey`
 */
export const readPatientPseudonyms = (environment: Environment): PatientPseudonyms =>
  createPatientPseudonyms(
    readSecretKey(environment, {
      setting: 'PATIENT_PSEUDONYM_KEY',
      demo: 'clinical-launch demo pseudonym key',
    }),
  );
