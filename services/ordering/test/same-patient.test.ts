import {
  type PatientIdentifierSystem,
  readPatientIdentifier,
} from '@clinical-launch/contracts/coded-identifiers';
import type { Action, LaunchPatient } from '@clinical-launch/contracts/launch-context';
import { aNhsNumber } from '@clinical-launch/testing/nhs-number';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { openOrderingDatabase } from '../src/store/database.ts';
import { type Application, aLaunchContext, anOrder, aPatient, press, startOrdering } from './launches.ts';
import { listedIn, textOf } from './listing.ts';
import { publishedBy } from './published-events.ts';
import { record, stored } from './sample-forms.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const otherPractice = {
  identifier: { system: 'ods-organization-code', value: 'B82099' },
  name: 'Quayside Surgery',
} as const;

/** A patient as the payload reader stores the identifiers. */
const withIdentifiers = (
  identifiers: readonly (readonly [PatientIdentifierSystem, string])[],
  changes: Partial<LaunchPatient> = {},
): LaunchPatient => ({
  ...aPatient(),
  ...changes,
  identifiers: identifiers.map(([system, value]) => readPatientIdentifier({ system, value })),
});

const order = (patient: LaunchPatient, request = {}, client = {}) =>
  anOrder(application, ['HFBC', 'DHBA1C'], aLaunchContext({ request: { patient, ...request }, client }));

const open = (action: Action, patient: LaunchPatient, request = {}, client = {}) =>
  application.openLaunch(aLaunchContext({ request: { action, patient, ...request }, client }));

/** Returns the page for choosing tests and the review of an order of the same test as `order`. */
async function review(patient: LaunchPatient) {
  const launch = await open('OrderTest', patient);
  const start = await launch.page();
  await press(launch, 'review', { tick: ['DHBA1C'] });
  return { start, page: await launch.page('review') };
}

const martha = { family: 'Whitfield', given: ['Martha'] };
const married = { family: 'Marsh', given: ['Martha'] };

describe('an earlier request', () => {
  const placeholders = ['9999999999', '0123456789', '9876543210', '4444444444'];
  const neverIssued = ['0012345671', '3113000009', '5990128088', '8700000007', '1331010007'];
  const numbers = fc.constantFrom(
    'true',
    'padded',
    'another',
    'mistyped',
    'placeholder',
    'never-issued',
    'none',
  );
  const hospitals = fc.constantFrom('true', 'another', 'UNKNOWN', 'n/a', '000', '-', 'none');
  const side = fc.record({
    nhs: numbers,
    hospital: hospitals,
    born: fc.constantFrom('1941-05-06', '2011-05-06'),
    name: fc.constantFrom(martha, married, { family: 'O’Brien', given: ['George'] }),
    doubt: fc.nat({ max: 3 }),
  });
  type Side = typeof side extends fc.Arbitrary<infer Generated> ? Generated : never;

  function patientOf({ nhs, hospital, born, name, doubt }: Side, known: { nhs: string; hospital: string }) {
    const last = (Number(known.nhs[9]) + 1) % 10;
    const values: Record<string, string> = {
      true: known.nhs,
      padded: ` ${known.nhs.slice(0, 3)}\u200b ${known.nhs.slice(3)}`,
      another: aNhsNumber(),
      mistyped: `${known.nhs.slice(0, 9)}${last}`,
      placeholder: placeholders[doubt] ?? '',
      'never-issued': neverIssued[doubt] ?? '',
    };
    const locals: Record<string, string> = { true: known.hospital, another: `${known.hospital}-2` };
    return withIdentifiers(
      [
        ...(nhs === 'none' ? [] : [['nhs-number', values[nhs] ?? ''] as const]),
        ...(hospital === 'none' ? [] : [['hospital-number', locals[hospital] ?? hospital] as const]),
      ],
      { birthDate: born, name },
    );
  }

  /** The rule in the words of the specification's decision, without code of the service. */
  function isJoined(one: Side, other: Side): boolean {
    const sure = (kind: string) => ['true', 'padded', 'another'].includes(kind);
    const isTrue = (kind: string) => kind === 'true' || kind === 'padded';
    const sharesNumber = isTrue(one.nhs) && isTrue(other.nhs);
    const sharesHospital = one.hospital === other.hospital && ['true', 'another'].includes(one.hospital);
    const contradicts = sure(one.nhs) && sure(other.nhs) && !sharesNumber;
    return (sharesNumber || (sharesHospital && !contradicts)) && one.born === other.born;
  }

  it('is of the patient of a launch if and only if a sure identifier and the date of birth are equal, and no number differs', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(side, side, async (one, other) => {
        count += 1;
        const known = { nhs: aNhsNumber(), hospital: `WH-${count}` };
        const { guid } = await order(patientOf(one, known));
        // Only on the next day can an order be repeated by the button.
        application.clock.advance({ seconds: 86_400 });
        const patient = patientOf(other, known);
        const isExpected = isJoined(one, other);
        const list = await (await open('PatientReportList', patient)).page('requests');
        expect(listedIn(list).includes(guid)).toBe(isExpected);
        const { start, page } = await review(patient);
        expect(start.includes(`again:${guid}`)).toBe(isExpected);
        expect(page.includes('name="repeat-reason"')).toBe(isExpected);
        const isOther = isExpected && one.name !== other.name;
        expect([list, start, page].map((html) => html.includes('Check the patient'))).toEqual([
          isOther,
          isOther,
          isOther,
        ]);
        const queue = await open('PatientSampleQueue', patient);
        expect((await queue.send(`requests/${guid}/samples`)).status).toBe(isExpected ? 200 : 404);
      }),
      {
        numRuns: 60,
        examples: (['placeholder', 'never-issued', 'mistyped', 'true'] as const).flatMap((nhs) => {
          const same: Side = { nhs, hospital: 'UNKNOWN', born: '1941-05-06', name: martha, doubt: 0 };
          const others: Side[] = [same, { ...same, born: '2011-05-06' }, { ...same, name: married }];
          return others.map((other): [Side, Side] => [same, other]);
        }),
      },
    );
  });

  it('that an older release stored with a placeholder as a number is judged by today’s rule', async () => {
    const [nhs, hospital] = [aNhsNumber(), 'WH-old'];
    const old = await order(
      withIdentifiers([
        ['nhs-number', nhs],
        ['hospital-number', hospital],
      ]),
    );
    const database = await openOrderingDatabase(application.storage);
    await sql`update ordering.test_requests set parties = jsonb_set(parties, '{patient,identifiers,0,value}', '"9999999999"')
      where guid = ${old.guid}::uuid`.execute(database);
    const listed = async (...identifiers: readonly (readonly [PatientIdentifierSystem, string])[]) =>
      listedIn(await (await open('PatientReportList', withIdentifiers(identifiers))).page('requests'));
    expect(await listed(['nhs-number', '9999999999'])).toEqual([]);
    expect(await listed(['nhs-number', nhs], ['hospital-number', hospital])).toEqual([old.guid]);
  });

  it('for a person with another date of birth is not offered, and the pages state the date only to its practice', async () => {
    const patient = aPatient();
    const { guid } = await order({ ...patient, birthDate: '1941-05-06' });
    const elsewhere =
      'A request under this number exists for a person with another date of birth. Check the number.';
    const own =
      'A request of this practice under this number is for a person born 6 May 1941. Check the number.';
    const pagesOf = async (request = {}) => {
      const launches = [
        await open('PatientReportList', patient, request),
        await open('OrderTest', patient, request),
      ];
      const [list = '', start = ''] = await Promise.all([launches[0]?.page('requests'), launches[1]?.page()]);
      return [list, start].map((html) => html.replace(/<[^>]*>/g, ''));
    };
    for (const text of await pagesOf())
      expect([text.includes(own), text.includes(elsewhere)]).toEqual([true, false]);
    for (const text of await pagesOf({ practice: otherPractice })) {
      expect([text.includes('May 1941'), text.includes(elsewhere)]).toEqual([false, true]);
      expect(text).not.toContain(guid);
    }
  });

  it('of a patient whose name differs only in title, accents, apostrophes, hyphens or blanks needs no check', async () => {
    const patient = aPatient({ name: { title: 'Mrs', family: "O'Brien-Núñez", given: ['Mary Anne'] } });
    await order(patient);
    for (const name of [
      { title: 'Dr', family: 'O’Brien‐Nunez', given: ['Mary', 'Anne'] },
      { family: 'OʼBrien Nu\u0301n\u0303ez ', given: ['MARY\u00a0 Anne'] },
    ]) {
      const list = await (await open('PatientReportList', { ...patient, name })).page('requests');
      expect(list).not.toContain('Check the patient');
    }
  });
});

describe('a request that the launch names by its originating id', () => {
  const newborn = (changes: Partial<LaunchPatient> = {}) =>
    withIdentifiers([['nhs-number', '9999999999']], { birthDate: '2026-03-01', ...changes });
  const confirming = 'It is the same patient, the date of birth was corrected';

  async function named(action: Action, change: Partial<LaunchPatient>, practice = {}) {
    const ordered = await order(newborn());
    const { originatingId } = ordered.context.request;
    const launch = await open(action, newborn(change), { originatingId, ...practice });
    return { ...launch, guid: ordered.guid };
  }

  it.each(['UpdateTest', 'PatientSampleQueue', 'PatientReport'] as const)(
    'is opened by %s, although its patient has no number',
    async (action) => {
      const launch = await named(action, { identifiers: [{ system: 'nhs-number', value: aNhsNumber() }] });
      const { headers } = await launch.send('');
      expect(headers.get('location')).toContain(`requests/${launch.guid}`);
      expect((await launch.send(headers.get('location') ?? '')).status).toBe(200);
      expect(listedIn(await launch.page('requests'))).not.toContain(launch.guid);
    },
  );

  it('is not opened by UpdateTest of another practice', async () => {
    const launch = await named('UpdateTest', {}, { practice: otherPractice });
    expect((await launch.send(`requests/${launch.guid}`)).status).toBe(404);
  });

  it.each([
    ['UpdateTest', 'tests/'],
    ['PatientSampleQueue', 'samples'],
  ] as const)(
    'changes nothing by %s with another date of birth until the user has confirmed the patient once',
    async (action, page) => {
      const launch = await named(action, { birthDate: '2026-02-28' });
      const report = `requests/${launch.guid}`;
      const before = await stored(application, launch);
      for (const path of [page, ...(action === 'UpdateTest' ? ['tests/review'] : [])]) {
        const answers = [
          await launch.send(`${report}/${path}`),
          await launch.post(`${report}/${path}`, [['action', 'submit']]),
        ];
        expect(answers.map(({ headers }) => headers.get('location'))).toEqual(
          Array(2).fill(`${launch.home}${report}`),
        );
      }
      expect(await stored(application, launch)).toEqual(before);
      const html = await launch.page(report);
      expect(textOf(html)).toContain(confirming);
      expect(html).toMatch(/Check the patient\.[^]*born 1 March 2026[^]*born 28 February 2026/);

      for (const _ of [1, 2]) {
        const confirmed = await launch.post(`${report}/same-patient`, [['launch', launch.launchId]]);
        expect(confirmed.headers.get('location')).toBe(`${launch.home}${report}/${page}`);
      }
      expect((await launch.send(`${report}/${page}`)).status).toBe(200);
      expect(await publishedBy(application, launch, 'order.patient.confirmed.v1')).toMatchObject([
        { data: { orderGuid: launch.guid, launchId: launch.launchId } },
      ]);
      const next = await application.openLaunch(aLaunchContext({ request: launch.context.request }));
      expect((await next.send(`${report}/${page}`)).status).toBe(200);
      const third = await open(action, newborn({ birthDate: '2026-02-27' }), {
        originatingId: launch.context.request.originatingId,
      });
      expect((await third.send(`${report}/${page}`)).status).toBe(303);
    },
  );

  it('records samples after the user has confirmed the patient', async () => {
    const launch = await named('PatientSampleQueue', { birthDate: '2026-02-28' });
    await launch.post(`requests/${launch.guid}/same-patient`, [['launch', launch.launchId]]);
    expect((await record(launch, { 'taken:S1': 'yes' })).headers.get('location')).toContain('/orders/');
  });

  it('is shown by PatientReport with another date of birth, with nothing to confirm', async () => {
    const launch = await named('PatientReport', { birthDate: '2026-02-28' });
    const html = await launch.page(`requests/${launch.guid}`);
    expect([html.includes('Check the patient'), html.includes(confirming)]).toEqual([true, false]);
    expect((await launch.post(`requests/${launch.guid}/same-patient`, [])).status).toBe(403);
  });
});
