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
  anOrder(application, ['DHBA1C'], aLaunchContext({ request: { patient, ...request }, client }));

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
    name: fc.constantFrom(martha, { family: 'O’Brien', given: ['George'] }),
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
        examples: ['placeholder', 'never-issued', 'mistyped', 'true'].map((nhs) => {
          const same = { nhs, hospital: 'UNKNOWN', born: '1941-05-06', name: martha, doubt: 0 } as const;
          return [same, nhs === 'true' ? { ...same, born: '2011-05-06' } : same] as [Side, Side];
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
      expect([text.includes('1941'), text.includes(elsewhere)]).toEqual([false, true]);
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
