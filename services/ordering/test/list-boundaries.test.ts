import { randomUUID } from 'node:crypto';
import type { Action } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Application, startOrdering } from './launches.ts';
import { aPatient, aPractice, listedIn, openList, orderFor, search } from './listing.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const ofPractice: [Action][] = [['LocationSampleQueue'], ['LocationReportList']];
const ofPatient: [Action][] = [
  ['PatientRequestList'],
  ['PatientReportList'],
  ['PatientSampleQueue'],
  ['PatientReport'],
];

describe('a list of a practice', () => {
  it.each(ofPractice)(
    'has for %s every patient of the practice and none of its neighbour',
    async (action) => {
      const [practice, neighbour] = [aPractice(), aPractice()];
      const patient = aPatient();
      const one = await orderFor(application, { request: { practice, patient } });
      const other = await orderFor(application, { request: { practice, patient: aPatient() } });
      const foreign = await orderFor(application, { request: { practice: neighbour, patient } });
      const launch = await openList(application, action, { request: { practice, patient } });
      expect(listedIn(await launch.page('requests'))).toEqual([other.guid, one.guid]);
      for (const q of ['whitfield', '28/2/1958', patient.identifiers[0]?.value ?? '']) {
        expect(listedIn(await search(launch, q))).not.toContain(foreign.guid);
      }
    },
  );

  it('is not that of a practice with the same code in another code set', async () => {
    const practice = aPractice();
    const { value } = practice.identifier;
    const local = { ...practice, identifier: { system: 'local-org-code', value } } as const;
    await orderFor(application, { request: { practice } });
    const launch = await openList(application, 'LocationReportList', { request: { practice: local } });
    expect(listedIn(await launch.page('requests'))).toEqual([]);
    expect(listedIn(await search(launch, 'whitfield'))).toEqual([]);
  });

  it.each([
    ['client', { clientId: 'pms-other' }],
    ['issuer', { issuer: 'https://other.example.org' }],
  ])('is not that of a practice that another %s knows by the same local code', async (_whose, client) => {
    const practice = {
      identifier: { system: 'local-org-code' as const, value: randomUUID() },
      name: 'Oak Lane Surgery',
    };
    const own = await orderFor(application, { request: { practice }, client });
    const foreign = await orderFor(application, { request: { practice } });
    const launch = await openList(application, 'LocationSampleQueue', { request: { practice }, client });
    expect(listedIn(await launch.page('requests'))).toEqual([own.guid]);
    expect(listedIn(await search(launch, 'whitfield'))).toEqual([own.guid]);
    for (const page of ['', '/samples', '/form', '/labels']) {
      expect((await launch.send(`requests/${foreign.guid}${page}`)).status).toBe(404);
    }
  });

  it('gives a neighbour nothing by the place of its requests: their GUIDs lead to the neighbour’s own first page', async () => {
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

  it('takes no practice, patient or action from an address or a form', async () => {
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

  it('is read with its own session alone', async () => {
    const launch = await openList(application, 'LocationReportList');
    const other = await openList(application, 'LocationReportList');
    expect((await other.send(`${launch.home}requests`)).status).toBe(401);
    expect((await launch.send('requests', { headers: { cookie: '' } })).status).toBe(401);
    const posted = await other.send(`${launch.home}requests`, { method: 'POST', body: 'q=x' });
    expect(posted.status).toBe(401);
  });
});

describe('a list of a patient', () => {
  it.each(ofPatient)(
    'has for %s the patient’s requests of every practice, and no other patient’s',
    async (action) => {
      const patient = aPatient();
      const practice = aPractice();
      const one = await orderFor(application, { request: { practice, patient } });
      const other = await orderFor(application, { request: { practice: aPractice(), patient } });
      await orderFor(application, { request: { practice, patient: aPatient() } });
      const launch = await openList(application, action, { request: { practice, patient } });
      expect(listedIn(await launch.page('requests'))).toEqual([other.guid, one.guid]);
    },
  );

  it('has for UpdateTest those of the practice that may change them, and no other practice’s', async () => {
    const patient = aPatient();
    const practice = aPractice();
    const own = await orderFor(application, { request: { practice, patient } });
    await orderFor(application, { request: { practice: aPractice(), patient } });
    const launch = await openList(application, 'UpdateTest', { request: { practice, patient } });
    expect(listedIn(await launch.page('requests'))).toEqual([own.guid]);
  });

  it('knows the patient by any identifier, each request once, and by no name', async () => {
    const [nhs, chi] = [aPatient(), aPatient()].map(({ identifiers }) => identifiers[0]?.value ?? '');
    const both = aPatient({
      identifiers: [
        { system: 'chi-number', value: chi ?? '' },
        { system: 'nhs-number', value: nhs ?? '' },
      ],
    });
    const byNhs = aPatient({ identifiers: [{ system: 'nhs-number', value: nhs ?? '' }] });
    const one = await orderFor(application, { request: { patient: both } });
    const two = await orderFor(application, { request: { patient: byNhs } });
    for (const [patient, guids] of [
      [both, [two.guid, one.guid]],
      [byNhs, [two.guid, one.guid]],
      [aPatient({ identifiers: [{ system: 'chi-number', value: chi ?? '' }] }), [one.guid]],
      [aPatient({ identifiers: [{ system: 'chi-number', value: nhs ?? '' }] }), []],
    ] as const) {
      const launch = await openList(application, 'PatientReportList', { request: { patient } });
      expect(listedIn(await launch.page('requests'))).toEqual(guids);
    }
  });

  it('takes a hospital number for that of the same practice and client alone', async () => {
    const patient = aPatient({ identifiers: [{ system: 'hospital-number', value: '42' }] });
    const practice = aPractice();
    const own = await orderFor(application, { request: { practice, patient } });
    const elsewhere = { request: { practice: aPractice(), patient } };
    const another = { request: { practice, patient }, client: { clientId: 'another-pms' } };
    const foreign = { request: { practice, patient }, client: { issuer: 'https://other.example.org' } };
    const seen = async (overrides: Parameters<typeof openList>[2]) => {
      const launch = await openList(application, 'PatientReportList', overrides);
      return listedIn(await launch.page('requests'));
    };
    expect(await seen({ request: { practice, patient } })).toEqual([own.guid]);
    for (const overrides of [elsewhere, another, foreign]) expect(await seen(overrides)).toEqual([]);
  });

  it('begins at its own newest request for the GUID of another patient’s, and searches its own alone', async () => {
    const practice = aPractice();
    const [patient, neighbour] = [aPatient(), aPatient()];
    const own = await orderFor(application, { request: { practice, patient } });
    const foreign = await orderFor(application, { request: { practice, patient: neighbour } });
    const launch = await openList(application, 'PatientReportList', { request: { practice, patient } });
    for (const cursor of [`before=${foreign.guid}`, `after=${foreign.guid}`]) {
      expect(listedIn(await launch.page(`requests?${cursor}`))).toEqual([own.guid]);
    }
    expect(listedIn(await search(launch, 'full blood'))).toEqual([own.guid]);
    expect((await launch.send(`requests/${foreign.guid}`)).status).toBe(404);
  });
});
