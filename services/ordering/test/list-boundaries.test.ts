import { aNhsNumber, withCheckDigit } from '@clinical-launch/testing/nhs-number';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Application, aPatient, startOrdering } from './launches.ts';
import { aPractice, listedIn, openList, orderFor } from './listing.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

describe('a list of a practice', () => {
  it('shows its own first page if the cursor names a request of another practice', async () => {
    const [practice, neighbour] = [aPractice(), aPractice()];
    const own = await orderFor(application, { request: { practice: neighbour } });
    const foreign = await orderFor(application, { request: { practice } });
    const launch = await openList(application, 'LocationReportList', { request: { practice: neighbour } });
    for (const cursor of [`before=${foreign.guid}`, `after=${foreign.guid}`]) {
      const html = await launch.page(`requests?${cursor}`);
      expect(listedIn(html)).toEqual([own.guid]);
      expect(html).not.toContain(foreign.guid);
      expect(html).toEqual(await launch.page('requests'));
    }
  });

  it('ignores a practice, launch or action that a URL or a form names', async () => {
    const [practice, neighbour] = [aPractice(), aPractice()];
    const foreign = await orderFor(application, { request: { practice } });
    const launch = await openList(application, 'LocationSampleQueue', { request: { practice: neighbour } });
    const { value } = practice.identifier;
    const query = `practice=${value}&practice_key=${value}&action=LocationReportList&status=Complete`;
    expect(await launch.page(`requests?${query}`)).not.toContain(foreign.guid);
    await launch.post('requests', [
      ['q', ''],
      ['practice', value],
      ['launch_id', foreign.context.launchId],
      ['action', 'search'],
    ]);
    expect(listedIn(await launch.page('requests'))).toEqual([]);
  });
});

describe('a list of a patient', () => {
  it('contains each request with an identifier of the patient once, and no request with only the patient’s name', async () => {
    const [nhs, chi] = [aNhsNumber(), withCheckDigit(10_180_000)];
    const both = aPatient({
      identifiers: [
        { system: 'chi-number', value: chi },
        { system: 'nhs-number', value: nhs },
      ],
    });
    const byNhs = aPatient({ identifiers: [{ system: 'nhs-number', value: nhs }] });
    const one = await orderFor(application, { request: { patient: both } });
    const two = await orderFor(application, { request: { patient: byNhs } });
    for (const [patient, guids] of [
      [both, [two.guid, one.guid]],
      [byNhs, [two.guid, one.guid]],
      [aPatient({ identifiers: [{ system: 'chi-number', value: chi }] }), [one.guid]],
      [aPatient({ identifiers: [{ system: 'chi-number', value: nhs }] }), []],
    ] as const) {
      const launch = await openList(application, 'PatientReportList', { request: { patient } });
      expect(listedIn(await launch.page('requests'))).toEqual(guids);
    }
  });
});
