import { withCheckDigit } from '@clinical-launch/testing/nhs-number';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createServiceRequestReader } from '../src/fhir/service-request-reader.ts';
import { defaultNamespaces } from '../src/namespaces.ts';
import { faultsOf, read, wholeFaultsOf } from './fhir-reading.ts';

const { fhir, nhs } = defaultNamespaces;
const systems = {
  'nhs-number': `${nhs}/Id/nhs-number`,
  'chi-number': `${fhir}/Id/chi-number`,
  'gha-number': `${fhir}/Id/gha-number`,
  'ssn-number': `${fhir}/Id/ssn-number`,
  'hospital-number': `${fhir}/Id/hospital-number`,
} as const;
type System = keyof typeof systems;

const payloadWith = (...identifiers: readonly (readonly [System, string])[]) =>
  aServiceRequest({
    patient: { identifier: identifiers.map(([system, value]) => ({ system: systems[system], value })) },
  });

function identifiersOf(payload: unknown) {
  const reading = read(payload);
  if ('faults' in reading) throw new Error(JSON.stringify(reading.faults));
  return reading.request.patient.identifiers;
}

const given: readonly (readonly [System, string])[] = [
  ['nhs-number', '9434765919'],
  ['nhs-number', '9434765870'],
  ['chi-number', '0101010028'],
  ['gha-number', 'GHA123456'],
  ['ssn-number', 'JY123456C'],
];

const separator = fc.constantFrom(
  '',
  '',
  ' ',
  '-',
  '  ',
  '\u00a0',
  '\u2009',
  '\u2010',
  '\u2011',
  '\u2013',
  '\u200b',
  '\u200e',
  '\u202d',
  '\u202c',
  '\u2064',
  '\ufe0f',
);

/** Generates spellings of an identifier with spaces, hyphens and lower-case letters at any position. */
const spellingOf = (number: string) =>
  fc
    .tuple(...Array.from(number, (sign) => fc.tuple(separator, fc.constantFrom(sign, sign.toLowerCase()))))
    .map((parts) => parts.flat().join(''));

describe('a national identifier', () => {
  it.each(given)('(%s %s) has the same normalised form in every spelling', (system, value) => {
    fc.assert(
      fc.property(spellingOf(value), (spelling) => {
        expect(identifiersOf(payloadWith([system, spelling]))).toEqual([{ system, value }]);
      }),
      { numRuns: 200 },
    );
  });

  const doubtful: readonly (readonly [System, string])[] = [
    ['nhs-number', '9434765918'],
    ['nhs-number', '943476591'],
    ['nhs-number', '94347659190'],
    ['nhs-number', 'unknown'],
    // The check digit of this number would be 10, so the NHS never issues it.
    ['nhs-number', '1234567890'],
    ['chi-number', '9999999999'],
    ['chi-number', '3213010006'],
    ['gha-number', '???'],
    ['ssn-number', 'none'],
    ...Array.from({ length: 10 }, (_, digit) => ['nhs-number', String(digit).repeat(10)] as const),
    ['nhs-number', '999-999-9999'],
    ['nhs-number', '0123456789'],
    ['nhs-number', '9876543210'],
    ['chi-number', '1111111111'],
    ['gha-number', '0000'],
    ['ssn-number', '000000000'],
    ['ssn-number', '999999999'],
  ];

  it.each(doubtful)(
    '(%s %s) is accepted unchanged and marked isDoubtful, because it is invalid',
    (system, value) => {
      expect(identifiersOf(payloadWith([system, value]))).toEqual([{ system, value, isDoubtful: true }]);
    },
  );

  it.each(doubtful)('(%s %s) is refused by the strict check, because it is invalid', (system, value) => {
    const strict = createServiceRequestReader(defaultNamespaces, undefined, 'strict');
    const reading = strict(payloadWith(['hospital-number', 'x y'], [system, value]));
    expect(reading).toMatchObject({
      faults: [
        {
          path: 'contained[1].identifier[1].value',
          message: expect.stringMatching(/^must be an? /),
          code: 'value',
        },
      ],
    });
    expect(JSON.stringify(reading)).not.toContain(value);
  });

  it.each(given)('(%s %s) is accepted by the strict check, because it is valid', (system, value) => {
    const strict = createServiceRequestReader(defaultNamespaces, undefined, 'strict');
    expect(strict(payloadWith([system, value]))).toHaveProperty('request');
  });
});

describe('an NHS number with a correct check digit', () => {
  /** The first and the last number of each range, and whether its numbers are issued. */
  it.each([
    ['000000001', '010099999', 'never issued'],
    ['010100001', '010199999', 'issued'],
    ['013100001', '013199999', 'never issued'],
    ['290200001', '290299999', 'issued'],
    ['300200001', '300299999', 'never issued'],
    ['311200001', '311299999', 'issued'],
    ['311300001', '319999999', 'never issued'],
    ['320000001', '399999999', 'issued'],
    ['400000001', '499999999', 'issued'],
    ['500000001', '599999999', 'never issued'],
    ['600000001', '799999999', 'issued'],
    ['800000001', '859999999', 'issued'],
    ['860000001', '899999999', 'never issued'],
    ['900000001', '999999901', 'issued'],
  ])('from %s to %s is %s, or begins with 9', (first, last, range) => {
    const strict = createServiceRequestReader(defaultNamespaces, undefined, 'strict');
    for (const value of [withCheckDigit(Number(first)), withCheckDigit(Number(last) - 20)]) {
      const isIssued = range === 'issued';
      const [read] = identifiersOf(payloadWith(['nhs-number', value]));
      expect(read).toEqual({ system: 'nhs-number', value, ...(isIssued ? {} : { isDoubtful: true }) });
      const reading = JSON.stringify(strict(payloadWith(['nhs-number', value])));
      expect(reading.includes('numbers of this range are never issued')).toBe(!isIssued);
    }
  });

  it('that is a placeholder is refused by the strict check with the reason', () => {
    const strict = createServiceRequestReader(defaultNamespaces, undefined, 'strict');
    expect(JSON.stringify(strict(payloadWith(['nhs-number', '9999999999'])))).toContain(
      'must be a valid NHS number, not a placeholder',
    );
  });
});

describe('a hospital number', () => {
  const hospital = (value: string) => identifiersOf(payloadWith(['hospital-number', value]))[0];

  it.each([
    'UNKNOWN',
    'Not Known',
    'none',
    'N/A',
    'NA',
    'T.B.C.',
    'temp',
    '0',
    '000-000',
    'WH-0000',
    '-',
    '???',
  ])('is doubtful if people write it where they know no number: %s', (value) => {
    expect(hospital(value)).toEqual({ system: 'hospital-number', value, isDoubtful: true });
    const strict = createServiceRequestReader(defaultNamespaces, undefined, 'strict');
    expect(strict(payloadWith(['hospital-number', value]))).toHaveProperty('request');
  });

  it.each(['UNKNOWN-17', 'TEMPLE', 'Nathan1', '42', '0042', 'W', '９'])(
    'is not doubtful if it only begins like a placeholder, or has a letter or a digit: %s',
    (value) => {
      expect(hospital(value)).toEqual({ system: 'hospital-number', value });
    },
  );

  it('is accepted without normalisation', () => {
    const identifier = { system: 'hospital-number', value: 'wh-42 b' } as const;
    expect(identifiersOf(payloadWith(['hospital-number', 'wh-42 b']))).toEqual([identifier]);
  });

  it('identifies the same patient with and without blanks at its ends', () => {
    const identifier = { system: 'hospital-number', value: 'WH 42' } as const;
    expect(identifiersOf(payloadWith(['hospital-number', '\u00a0WH 42 \u200b']))).toEqual([identifier]);
  });
});

describe('the two identifiers of a patient', () => {
  const fault = {
    path: 'contained[1].identifier',
    message: 'must be a national identifier, a hospital number, or one of each',
  };

  it.each<[System, System]>([
    ['nhs-number', 'nhs-number'],
    ['hospital-number', 'hospital-number'],
    ['nhs-number', 'chi-number'],
    ['gha-number', 'ssn-number'],
  ])('must not be %s and %s', (one, other) => {
    const payload = payloadWith([one, '9434765919'], [other, '9434765870']);
    expect(faultsOf(payload)).toEqual([fault]);
    expect(wholeFaultsOf(payload)).toMatchObject([{ code: 'invariant', resource: 'Patient #patient' }]);
  });

  it.each<[System, System]>([
    ['nhs-number', 'hospital-number'],
    ['hospital-number', 'chi-number'],
  ])('may be %s and %s', (one, other) => {
    expect(faultsOf(payloadWith([one, '9434765919'], [other, '0101010028']))).toEqual([]);
  });
});
