import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readPatientPseudonyms } from '../src/patient-pseudonyms.ts';

const production = { NODE_ENV: 'production' };
const demoKey = readFileSync(
  new URL('../../../deploy/docker/demo-secrets/patient-pseudonym-key', import.meta.url),
  'utf8',
);
const identifier = { system: 'nhs-number', value: '9434765919' };

describe('the key for patient pseudonyms', () => {
  it.each([
    ['is missing', {}, 'PATIENT_PSEUDONYM_KEY is not set'],
    [
      'is too short',
      { PATIENT_PSEUDONYM_KEY: 'short' },
      'PATIENT_PSEUDONYM_KEY must be 32 bytes in Base64URL',
    ],
    [
      'is the demo key',
      { PATIENT_PSEUDONYM_KEY: demoKey },
      'PATIENT_PSEUDONYM_KEY is the key of the demo, which is publicly known',
    ],
  ])('prevents the start in production if it %s', (_case, settings, problem) => {
    expect(() => readPatientPseudonyms({ ...production, ...settings })).toThrow(problem);
  });

  it('gives a patient the same pseudonym in every process, and a different key gives a different pseudonym', () => {
    const [key, other] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64url'));
    const nameUnder = (PATIENT_PSEUDONYM_KEY: string | undefined) =>
      readPatientPseudonyms({ ...production, PATIENT_PSEUDONYM_KEY }).of(identifier);
    expect(nameUnder(key)).toBe(nameUnder(key));
    expect(nameUnder(key)).not.toBe(nameUnder(other));
  });
});
