import { describe, expect, it } from '@jest/globals';
import { fullName } from '../src/domain/person-name.ts';
import { ageOn, presentBanner } from '../src/present/patient-banner.ts';
import { aLaunchContext } from './launches.ts';

const { request } = aLaunchContext();
const today = '2026-03-02';

describe('the patient banner', () => {
  it('shows the patient as SURNAME, given names (title), with date of birth, age, gender and NHS number', () => {
    expect(presentBanner(request, today)).toEqual({
      name: 'WHITFIELD, Margaret Anne (Mrs)',
      listName: 'WHITFIELD, Margaret Anne',
      born: '28 February 1958',
      shortBorn: '28 Feb 1958',
      age: '68 years',
      gender: 'Female',
      identifiers: [{ label: 'NHS number', value: '943 476 5919' }],
      address: '14 Quayside, Whitby, YO22 4EB',
      telephones: ['01947 555 0142 (home)'],
      requester: 'Bairstow, Thomas (Dr)',
      author: 'Okonkwo, Adaeze (Dr)',
      practice: 'Harbour Surgery',
    });
  });

  it('shows the previous surname, and other identifiers unformatted after the NHS number', () => {
    const banner = presentBanner(
      {
        ...request,
        patient: {
          ...request.patient,
          previousFamilyName: 'Marsh',
          identifiers: [
            { system: 'hospital-number', value: 'WH-0042317' },
            { system: 'nhs-number', value: '9434765919' },
          ],
        },
      },
      today,
    );
    expect(banner.previousName).toBe('Marsh');
    expect(banner.identifiers).toEqual([
      { label: 'NHS number', value: '943 476 5919' },
      { label: 'Hospital number', value: 'WH-0042317' },
    ]);
  });

  it('shows an invalid NHS number unformatted, and marks it as doubtful', () => {
    const identifiers = [{ system: 'nhs-number', value: '943 476 5918', isDoubtful: true }] as const;
    const patient = { ...request.patient, identifiers };
    expect(presentBanner({ ...request, patient }, today).identifiers).toEqual([
      { label: 'NHS number', value: '943 476 5918', doubt: 'not valid' },
    ]);
  });

  it.each([
    ['nhs-number', '9999999999', 'placeholder'],
    ['nhs-number', '5990128088', 'not valid'],
    ['hospital-number', 'UNKNOWN', 'placeholder'],
  ] as const)('says whether a number is a placeholder or not valid: %s %s', (system, value, doubt) => {
    const patient = { ...request.patient, identifiers: [{ system, value }] };
    expect(presentBanner({ ...request, patient }, today).identifiers).toMatchObject([{ doubt }]);
  });

  it('omits the title or the given names if the launch does not contain them', () => {
    expect(fullName({ family: 'Whitfield', given: [] })).toBe('Whitfield');
    expect(fullName({ family: 'Whitfield', given: ['M'] })).toBe('Whitfield, M');
  });

  it.each([
    ['the day before a birthday', '2026-02-27', '1958-02-28', '67 years'],
    ['the birthday', '2026-02-28', '1958-02-28', '68 years'],
    ['a birthday on 29 February, in a year without that day', '2026-02-28', '2004-02-29', '21 years'],
    ['a child under two', '2026-03-01', '2024-03-02', '23 months'],
    ['the second birthday', '2026-03-02', '2024-03-02', '2 years'],
    ['a month', '2026-03-02', '2026-02-02', '1 month'],
    ['weeks', '2026-03-02', '2026-02-03', '3 weeks'],
    ['days', '2026-03-02', '2026-03-01', '1 day'],
    ['the day of birth', '2026-03-02', '2026-03-02', '0 days'],
    ['a future date of birth', '2026-03-02', '2026-03-03', undefined],
  ])('shows the patient’s age: %s', (_case, day, birthDate, age) => {
    expect(ageOn(day, birthDate)).toBe(age);
  });
});
