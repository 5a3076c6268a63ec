import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createPatientPseudonyms } from '../src/patient-pseudonym.ts';

const key = randomBytes(32);
const pseudonyms = createPatientPseudonyms(key);
const nhsNumber = { system: 'nhs-number', value: '9434765919' } as const;

describe('the pseudonym of a patient', () => {
  it('is the HMAC-SHA-256 of the identifier with the key of the installation', () => {
    const expected = createHmac('sha256', key).update('nhs-number|9434765919').digest('base64url');
    expect(pseudonyms.of(nhsNumber)).toBe(expected);
    expect(createPatientPseudonyms(randomBytes(32)).of(nhsNumber)).not.toBe(expected);
  });

  it.each(['943 476 5919', '943-476-5919', '\u00a09434765919'])(
    'is the same if the NHS number is written %j',
    (value) => {
      expect(pseudonyms.of({ ...nhsNumber, value })).toBe(pseudonyms.of(nhsNumber));
    },
  );

  it('is derived from the first valid national identifier, in OLTR and desktop launches', () => {
    const local = { system: 'hospital-number', value: 'H 12' } as const;
    const doubtful = { system: 'chi-number', value: '12', isDoubtful: true } as const;
    const expected = pseudonyms.of(nhsNumber);
    expect(pseudonyms.ofPatient({ identifiers: [local, doubtful, nhsNumber] })).toBe(expected);
    const desktop = [
      { identifierType: 'GUID', identifierValue: 'b1cc25ec-90cc-4fad-8de5-54e986f8d124' },
      { identifierType: 'NHS Number', identifierValue: '943 476 5919' },
    ];
    expect(pseudonyms.ofDesktopPatient({ 'patient-identifiers': desktop })).toBe(expected);
  });

  it('is derived from the first identifier, unchanged, if the patient has no national identifier', () => {
    const of = (value: string) =>
      pseudonyms.ofPatient({ identifiers: [{ system: 'hospital-number', value }] });
    expect(of('H 12')).toBe(pseudonyms.of({ system: 'hospital-number', value: 'H 12' }));
    expect(of('H 12')).not.toBe(of('H12'));
  });
});
