import { describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import { type AppliesTo, describeAppliesTo, isFor, setFor, traitsOf } from '../src/domain/applies-to.ts';
import { isNamedBy } from '../src/domain/test-search.ts';

const moment = { now: Date.parse('2026-03-02T09:30:00Z'), timeZone: 'Europe/London' };
const traits = (gender: 'female' | 'male' | 'other' | 'unknown', birthDate: string) =>
  traitsOf({ gender, birthDate }, moment);
const women: AppliesTo = { sex: 'female', ageFrom: 12, ageTo: 55 };

describe('a test for women aged 12 to 55', () => {
  it.each([
    ['a girl on her 12th birthday', 'female', '2014-03-02', true],
    ['a girl on the day before her 12th birthday', 'female', '2014-03-03', false],
    ['a woman on the day before her 56th birthday', 'female', '1970-03-03', true],
    ['a woman on her 56th birthday', 'female', '1970-03-02', false],
    ['a man', 'male', '1996-03-02', false],
    ['a patient of another gender', 'other', '1996-03-02', true],
    ['a patient of unknown gender', 'unknown', '1996-03-02', true],
    ['a patient of unknown gender aged 60', 'unknown', '1966-03-01', false],
    ['a woman whose date of birth is in the future', 'female', '2027-01-01', true],
  ] as const)('applies to %s (%s, born %s): %s', (_who, gender, birthDate, expected) => {
    expect(isFor({ appliesTo: women }, traits(gender, birthDate))).toBe(expected);
  });

  it('has a description that states the sex and the ages', () => {
    expect(describeAppliesTo(women)).toBe('female patients aged 12 to 55');
    expect(describeAppliesTo({ sex: 'male' })).toBe('male patients');
    expect(describeAppliesTo({ sex: 'male', ageFrom: 0 })).toBe('male patients');
    expect(describeAppliesTo({ ageFrom: 50 })).toBe('patients aged 50 or over');
    expect(describeAppliesTo({ ageTo: 15 })).toBe('patients aged 15 or under');
  });
});

describe('an order set', () => {
  const { orderSets, orderables } = readCatalogue();
  const antenatal = orderSets.get('antenatal-booking') ?? { id: '', name: '', tests: [] };

  it('contains no tests for a patient to whom the set does not apply', () => {
    expect(setFor(antenatal, traits('male', '1996-03-02')).tests).toEqual([]);
    expect(setFor(antenatal, traits('female', '1996-03-02')).tests).toEqual(antenatal.tests);
  });

  it('omits tests that do not apply to the patient', () => {
    const tests = ['HFBC', 'MPSA'].flatMap((code) => orderables.get(code) ?? []);
    const own = { id: 'own', name: 'Own', tests };
    expect(setFor(own, traits('female', '1950-03-02')).tests.map(({ code }) => code)).toEqual(['HFBC']);
    expect(setFor(own, traits('other', '1950-03-02')).tests).toEqual(tests);
  });
});

describe('isNamedBy', () => {
  const psa = readCatalogue().orderables.get('MPSA');
  it.each([
    ['psa', true],
    ['P.S.A.', true],
    ['Prostate-specific antigen', true],
    ['MPSA', true],
    ['prostate', false],
    ['prost', false],
    ['specific antigen', false],
    ['', false],
  ])('accepts only a complete name, not a part of a name: %s', (query, expected) => {
    expect(psa && isNamedBy(psa, query)).toBe(expected);
  });
});
