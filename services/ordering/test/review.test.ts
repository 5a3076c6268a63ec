import { describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import type { PatientTraits } from '../src/domain/applies-to.ts';
import { type Draft, differenceOf, draftOf, emptyDraft } from '../src/domain/draft.ts';
import { findRepeats } from '../src/domain/repeats.ts';
import { decideReview, type ReviewOutcome } from '../src/domain/review.ts';
import { emptyTestRequest, type RequestDetails } from '../src/domain/test-request.ts';
import { aLaunchContext } from './launches.ts';

const catalogue = readCatalogue();
const now = '2026-03-02T09:30:00Z';
const timeZone = 'Europe/London';

type Case = Partial<Draft> & {
  readonly chosen: readonly string[];
  readonly repeated?: readonly string[];
  readonly patient?: PatientTraits;
  readonly at?: string;
};

const aWoman: PatientTraits = { gender: 'female', age: 30 };

/** Validates a draft. The tests with the codes `repeated` were also requested three days ago. */
function decide({ repeated = [], patient = aWoman, at = now, ...typed }: Case): ReviewOutcome {
  const draft: Draft = { ...emptyDraft('5a0e7c36-0000-4000-8000-000000000000'), ...typed };
  const tests = draft.chosen.flatMap((code) => catalogue.orderables.get(code) ?? []);
  const earlier = repeated.map((code) => ({
    code,
    description: code,
    requestedAt: '2026-02-27T09:30:00Z',
    requester: { family: 'Bairstow', given: [] },
    isSampleTaken: false,
    provider: 'North Coast Pathology',
    orderReference: 'NCP-000001',
  }));
  const instant = Date.parse(at);
  const repeats = findRepeats({ tests, earlier, catalogue, now: instant, timeZone });
  const difference = differenceOf(draft, catalogue);
  const addedTests = tests.filter(({ code }) => difference.added.includes(code));
  return decideReview({ draft, tests, addedTests, ...difference, patient, repeats, now: instant, timeZone });
}

/** Returns the errors as `field: message`, or the values to store. */
function outcomeOf(typed: Case) {
  const outcome = decide(typed);
  return 'faults' in outcome
    ? outcome.faults.map(({ field, message }) => `${field}: ${message}`)
    : outcome.decision;
}

const nothing: RequestDetails = { clinicalDetails: '', priority: 'routine', answers: [] };

/** Returns the draft of a change to a request with these details; `typed` replaces fields of the draft. */
function aChange(details: Partial<RequestDetails>, typed: Partial<Draft> = {}): Case {
  const context = aLaunchContext();
  const request = emptyTestRequest({
    guid: context.launchId,
    context,
    details: { ...nothing, ...details },
    now,
  });
  return { ...draftOf(request, '5a0e7c36-0000-4000-8000-000000000000'), ...typed };
}

describe('an order whose tests need no answers', () => {
  it('is stored as routine, without clinical details, with samples to collect later', () => {
    expect(outcomeOf({ chosen: ['HFBC', 'KMSU'] })).toEqual({
      details: nothing,
      repeatReasons: {},
      overrideReasons: {},
    });
  });

  it('is stored with clinical details without control characters and surplus spaces', () => {
    const typed = { clinicalDetails: '  Tired\r\nfor weeks ', priority: 'urgent' as const };
    expect(outcomeOf({ chosen: ['HFBC'], ...typed })).toEqual({
      details: { clinicalDetails: 'Tired\nfor weeks', priority: 'urgent', answers: [] },
      repeatReasons: {},
      overrideReasons: {},
    });
  });
});

describe('clinical details', () => {
  it.each([
    ['dose 5\v10 mg', 'dose 5\n10 mg'],
    ['INR 2\u00854', 'INR 2\n4'],
    ['dose 5\f10 mg', 'dose 5\n10 mg'],
    ['one\u2028two\u2029three', 'one\ntwo\nthree'],
    ['Hb 10\u001f2\0g\ufffe', 'Hb 10 2 g'],
    ['a\tb', 'a\tb'],
  ])('never lose a character that separates two words: %j', (clinicalDetails, stored) => {
    expect(outcomeOf({ chosen: ['HFBC'], clinicalDetails })).toMatchObject({
      details: { clinicalDetails: stored },
    });
  });

  it.each([
    ['may be absent', { chosen: ['HFBC'] }, []],
    [
      'may not be absent for a test that needs them',
      { chosen: ['HFBC', 'UABD'] },
      ['details: Enter clinical details. Ultrasound abdomen cannot be done without them'],
    ],
    [
      'are required once, for all tests that need them',
      { chosen: ['UABD', 'UREN', 'UTHY'], clinicalDetails: ' \n ' },
      [
        'details: Enter clinical details. Ultrasound abdomen, Ultrasound kidneys and bladder and Ultrasound thyroid and neck cannot be done without them',
      ],
    ],
  ])('%s', (_case, typed: Case, faults) => {
    const outcome = decide(typed);
    expect('faults' in outcome ? outcomeOf(typed) : []).toEqual(faults);
  });
});

describe('the answer to a question', () => {
  const choice = 'answer-anticoagulant: Select an answer to “Which anticoagulant does the patient take?”';
  const date = 'answer-last-menstrual-period-day:';
  const lmp = '“First day of the last menstrual period”';

  it.each([
    ['a required choice is made', 'CINR', { anticoagulant: 'Warfarin' }, 'Warfarin'],
    ['a required choice is missing', 'CINR', {}, choice],
    ['a required choice is none of the options', 'CINR', { anticoagulant: 'Aspirin' }, choice],
    ['an optional choice is none of the options', 'CCLOT', { anticoagulant: 'warfarin' }, choice],
    ['a required line is present', 'TLI', { 'last-dose': ' 27 March,\n 8pm ' }, '27 March, 8pm'],
    [
      'a required line is missing',
      'TLI',
      { 'last-dose': '\u0000 ' },
      'answer-last-dose: Enter an answer to “Date and time of the last dose”',
    ],
    ['a line is 200 characters', 'TLI', { 'last-dose': 'x'.repeat(200) }, 'x'.repeat(200)],
    [
      'a line is 201 characters',
      'TLI',
      { 'last-dose': 'x'.repeat(201) },
      'answer-last-dose: “Date and time of the last dose” must be 200 characters or fewer',
    ],
    ['a required date is present', 'EPROG', { 'last-menstrual-period': '2026-2-9' }, '2026-02-09'],
    ['its month is a word', 'EPROG', { 'last-menstrual-period': '2026-Feb-9' }, '2026-02-09'],
    ['it is today', 'EPROG', { 'last-menstrual-period': '2026-03-02' }, '2026-03-02'],
    [
      'it is tomorrow',
      'EPROG',
      { 'last-menstrual-period': '2026-03-03' },
      `${date} ${lmp} must be today or in the past`,
    ],
    [
      'it is 29 February, but not of a leap year',
      'EPROG',
      { 'last-menstrual-period': '2026-2-29' },
      `${date} ${lmp} must be a real date`,
    ],
    [
      'it is 29 February of a leap year',
      'EPROG',
      { 'last-menstrual-period': '2024-2-29' },
      '2024-02-29',
      '2024-03-15T09:30:00Z',
    ],
    ['it is 45 weeks ago', 'EPROG', { 'last-menstrual-period': '2025-4-21' }, '2025-04-21'],
    [
      'it is 45 weeks and a day ago',
      'EPROG',
      { 'last-menstrual-period': '2025-4-20' },
      `${date} ${lmp} must be within the last 45 weeks`,
    ],
    [
      'a part of it is missing',
      'EPROG',
      { 'last-menstrual-period': '2026--9' },
      `${date} ${lmp} must be a real date`,
    ],
    [
      'it has letters that are no month',
      'EPROG',
      { 'last-menstrual-period': '2026-Fex-9' },
      `${date} ${lmp} must be a real date`,
    ],
    [
      'its year has two digits',
      'EPROG',
      { 'last-menstrual-period': '26-2-9' },
      `${date} ${lmp} must be a real date`,
    ],
    [
      'a required date is missing',
      'EPROG',
      { 'last-menstrual-period': '--' },
      `${date} Enter a date for ${lmp}, or select Not known`,
    ],
    ['a date is not known', 'EPROG', { 'last-menstrual-period': 'Not known' }, 'Not known'],
    [
      'a date is both typed and not known',
      'EPROG',
      { 'last-menstrual-period': '2026-2-9-Not known' },
      `${date} Enter a date for ${lmp} or select Not known, not both`,
    ],
  ])(
    'is stored if it is valid, and otherwise causes an error: %s',
    (_case, test, answers: Record<string, string>, expected, at = now) => {
      const outcome = decide({ chosen: [test], answers, at });
      const said =
        'faults' in outcome
          ? outcome.faults.map(({ field, message }) => `${field}: ${message}`)
          : outcome.decision.details.answers.map(({ answer }) => answer);
      expect(said).toEqual([expected]);
    },
  );

  it('is stored once, with the text of the question, for all tests that ask the question', () => {
    const outcome = outcomeOf({
      chosen: ['CINR', 'CCLOT', 'CTHRO'],
      answers: { anticoagulant: 'None' },
      clinicalDetails: 'DVT',
    });
    const text = 'Which anticoagulant does the patient take?';
    expect(outcome).toMatchObject({
      details: { answers: [{ question: 'anticoagulant', text, answer: 'None' }] },
    });
  });

  it('is required if one of the tests requires it', () => {
    expect(outcomeOf({ chosen: ['CCLOT'] })).toEqual({
      details: nothing,
      repeatReasons: {},
      overrideReasons: {},
    });
    expect(outcomeOf({ chosen: ['CCLOT', 'CINR'] })).toEqual([choice]);
  });

  it('is ignored if no test asks the question', () => {
    const answers = { anticoagulant: 'Aspirin', fasting: 'Fasting', 'no-question': 'x' };
    expect(outcomeOf({ chosen: ['BLIP'], answers })).toMatchObject({
      details: { answers: [{ question: 'fasting', answer: 'Fasting' }] },
    });
  });
});

describe('a test that may be a repeat', () => {
  it.each([
    ['is stored with its reason', { DHBA1C: ' New  symptoms ' }, { DHBA1C: 'New symptoms' }],
    [
      'is stored with its reason in one line',
      { DHBA1C: 'New\vsymptoms\u001f2' },
      { DHBA1C: 'New symptoms 2' },
    ],
    [
      'is not stored without a reason',
      {},
      ['repeat-reason: Give a reason for repeating HbA1c, or remove it'],
    ],
    [
      'is not stored with a blank reason',
      { DHBA1C: ' \n' },
      ['repeat-reason: Give a reason for repeating HbA1c, or remove it'],
    ],
    [
      'is not stored with a reason that is too long',
      { DHBA1C: 'x'.repeat(201) },
      ['repeat-reason: Reason for repeating HbA1c must be 200 characters or fewer'],
    ],
  ])('%s', (_case, repeatReasons: Record<string, string>, expected) => {
    const outcome = decide({ chosen: ['DHBA1C', 'HFBC'], repeated: ['DHBA1C'], repeatReasons });
    const said =
      'faults' in outcome
        ? outcome.faults.map(({ field, message }) => `${field}: ${message}`)
        : outcome.decision.repeatReasons;
    expect(said).toEqual(expected);
  });

  it.each([
    ['a typed reason', { choice: '', typed: ' Lost  in post ' }, 'Lost in post'],
    ['a reason from the list', { choice: 'New or changed symptoms', typed: '' }, 'New or changed symptoms'],
    [
      'a reason from the list, with more text',
      { choice: 'New or changed symptoms', typed: 'rash' },
      'New or changed symptoms: rash',
    ],
    ['a choice that no page offers, with a typed reason', { choice: 'Because', typed: 'rash' }, 'rash'],
  ])('shares one reason with other repeats: %s', (_how, repeatReason, expected) => {
    const codes = ['DHBA1C', 'BVITD'];
    expect(outcomeOf({ chosen: codes, repeated: codes, repeatReason })).toMatchObject({
      repeatReasons: { DHBA1C: expected, BVITD: expected },
    });
  });

  it('is named in one error with the other repeats without a reason', () => {
    const codes = ['DHBA1C', 'BVITD', 'HFER'];
    expect(outcomeOf({ chosen: codes, repeated: codes, repeatReasons: { HFER: 'Lost' } })).toEqual([
      'repeat-reason: Give a reason for repeating HbA1c and Vitamin D, or remove them',
    ]);
  });

  it('needs no reason if the catalogue has no interval for it', () => {
    expect(outcomeOf({ chosen: ['HFBC'], repeated: ['HFBC'] })).toMatchObject({ repeatReasons: {} });
  });

  it('needs no reason if it was not requested before, and a given reason is not stored', () => {
    expect(outcomeOf({ chosen: ['DHBA1C'], repeatReasons: { DHBA1C: 'x', HFBC: 'y' } })).toMatchObject({
      repeatReasons: {},
      overrideReasons: {},
    });
  });
});

describe('samples that are collected now', () => {
  const collection = {
    when: 'now',
    by: 'Hill, Ada',
    date: { day: '2', month: '3', year: '2026' },
    time: '9:05',
  } as const;

  it('are stored with the order', () => {
    expect(outcomeOf({ chosen: ['HFBC'], collection })).toMatchObject({
      collected: { at: '2026-03-02T09:05:00.000Z', by: 'Hill, Ada' },
    });
  });

  it('are ignored if no sample is needed', () => {
    expect(
      outcomeOf({ chosen: ['UABD'], clinicalDetails: 'Pain', collection: { ...collection, by: '' } }),
    ).not.toHaveProperty('collected');
  });

  it('are ignored if the draft changes a request', () => {
    const change = aChange({}, { collection, chosen: ['HFBC'] });
    expect(outcomeOf(change)).toEqual({ details: nothing, repeatReasons: {}, overrideReasons: {} });
  });

  it('have an error at each invalid field', () => {
    const faults = outcomeOf({
      chosen: ['HFBC'],
      collection: { ...collection, by: '', date: { ...collection.date, day: '31', month: '2' }, time: '' },
    });
    expect(faults).toEqual([
      expect.stringMatching(/^collected-by: /),
      expect.stringMatching(/^collected-day: /),
      expect.stringMatching(/^collected-time: /),
    ]);
  });
});

it('a review returns every error at once, in the order of the page', () => {
  const outcome = decide({
    chosen: ['DHBA1C', 'CTHRO', 'TLI'],
    repeated: ['DHBA1C'],
    collection: { when: 'now', by: '', date: { day: '', month: '', year: '' }, time: '' },
  });
  expect('faults' in outcome && outcome.faults.map(({ field }) => field)).toEqual([
    'repeat-reason',
    'answer-anticoagulant',
    'answer-last-dose',
    'details',
    'collected-by',
    'collected-day',
    'collected-time',
  ]);
});

describe('a change to a request', () => {
  const unchanged = ['tests: Nothing has been changed yet. Add or remove a test, or close this page'];
  const answered = { question: 'fasting', text: 'Is the patient fasting?', answer: 'Fasting' };

  it.each([
    ['that changes nothing is not stored', aChange({}), unchanged],
    [
      'that repeats the stored text is not stored',
      aChange({ clinicalDetails: 'Tired' }, { clinicalDetails: ' Tired ' }),
      unchanged,
    ],
    ['of the tests is stored', aChange({}, { chosen: ['HFBC'] }), 'stored'],
    ['of the details is stored', aChange({}, { clinicalDetails: 'Tired' }), 'stored'],
    ['of the priority is stored', aChange({}, { priority: 'urgent' }), 'stored'],
    ['that removes an answer is stored', aChange({ answers: [answered] }), 'stored'],
  ])('%s', (_case, typed, expected) => {
    const outcome = outcomeOf(typed);
    expect(Array.isArray(outcome) ? outcome : 'stored').toEqual(expected);
  });
});
