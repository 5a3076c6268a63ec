import type { LaunchContext } from '@clinical-launch/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chooseAndReview,
  press,
  startOrdering,
  submit,
  tickedIn,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

/** Leaves a draft behind, and returns the context of its launch. */
async function leaveDraft(context = aLaunchContext({ request: { patient: aPatient() } })) {
  const launch = await chooseAndReview(application, ['HFBC', 'XCXR'], context);
  await launch.post('review', [
    ['details', 'Cough for three weeks'],
    ['priority', 'urgent'],
    ['answer:could-be-pregnant', 'No'],
    ['collect', 'now'],
    ['collected-by', 'Nurse Hill'],
    ['action', 'back'],
  ]);
  application.clock.advance({ seconds: 60 });
  return context;
}

/** Opens the next launch of the same user for the same patient, with changes. */
function openNext(
  { client, request }: LaunchContext,
  {
    request: changes = {},
    client: ofClient = {},
  }: {
    request?: Partial<LaunchContext['request']>;
    client?: Partial<LaunchContext['client']>;
  } = {},
) {
  const { originatingId } = aLaunchContext().request;
  return application.openLaunch(
    aLaunchContext({
      client: { ...client, ...ofClient },
      request: { ...request, originatingId, ...changes },
    }),
  );
}

describe('a draft that was left behind', () => {
  it('is restored in the next launch of its user for its patient, and the page says from when', async () => {
    const context = await leaveDraft();
    const next = await openNext(context);
    const html = await next.page();
    expect(tickedIn(html)).toEqual(['HFBC', 'XCXR']);
    expect(html).toContain('Your request of 2 Mar 2026 at 09:30 was not submitted. It has been restored.');
    const review = await next.page('review');
    expect(review).toContain('It has been restored');
    expect(review).toMatch(/<textarea[^>]*>Cough for three weeks</);
    expect(review).toMatch(/value="urgent" checked/);
    // The time of a collection is never that of other samples.
    expect(review).toMatch(/value="later" checked/);
    expect(review).not.toContain('Nurse Hill');
    expect((await submit(next)).headers.get('location')).toContain('/orders/');
  });

  it('is changed in the next launch alone', async () => {
    const context = await leaveDraft();
    const next = await openNext(context);
    await press(next, 'update', { tick: ['BUE'], untick: ['XCXR'] });
    expect(tickedIn(await next.page())).toEqual(['HFBC', 'BUE']);
    const first = await application.openLaunch(context);
    expect(tickedIn(await first.page())).toEqual(['HFBC', 'XCXR']);
  });

  const neighbour = aPatient();
  const other = {
    user: { request: { author: { ...aLaunchContext().request.author, username: 'g.hill' } } },
    patient: { request: { patient: neighbour } },
    'date of birth': { request: { patient: { ...neighbour, birthDate: '1958-03-01' } } },
    practice: {
      request: {
        practice: {
          identifier: { system: 'ods-organization-code' as const, value: 'B82099' },
          name: 'Quayside Surgery',
        },
      },
    },
    client: { client: { clientId: 'pms-other' } },
    issuer: { client: { issuer: 'https://login.example.org' } },
    laboratory: {
      request: {
        performer: {
          identifier: { system: 'performing-org' as const, value: 'RCB01' },
          name: 'South Coast Pathology',
        },
      },
    },
  };

  it.each(Object.entries(other))('is not restored for another %s', async (what, changes) => {
    const patient = what === 'date of birth' ? neighbour : aPatient();
    const context = await leaveDraft(aLaunchContext({ request: { patient } }));
    const html = await (await openNext(context, changes)).page();
    expect(tickedIn(html)).toEqual([]);
    expect(html).not.toContain('It has been restored');
    // It is there for its own user.
    expect(tickedIn(await (await openNext(context)).page())).toEqual(['HFBC', 'XCXR']);
  });

  it('is not restored for a patient without a valid identifier, who may be anybody', async () => {
    const identifiers = [{ system: 'nhs-number' as const, value: '1234', isDoubtful: true as const }];
    const context = await leaveDraft(aLaunchContext({ request: { patient: aPatient({ identifiers }) } }));
    expect(tickedIn(await (await openNext(context)).page())).toEqual([]);
  });

  it('is not restored by a launch of another action', async () => {
    const context = await leaveDraft();
    const report = await openNext(context, { request: { action: 'PatientReportList' } });
    expect(await report.page('requests')).not.toContain('It has been restored');
    expect((await report.send('review')).status).toBe(403);
  });

  it('is restored for 24 hours after its last change', async () => {
    const context = await leaveDraft();
    application.clock.advance({ seconds: 86_400 - 61 });
    expect(tickedIn(await (await openNext(context)).page())).toEqual(['HFBC', 'XCXR']);
    application.clock.advance({ seconds: 1 });
    expect(tickedIn(await (await openNext(context)).page())).toEqual([]);
  });

  it('is not restored after it was submitted, in whichever launch', async () => {
    const context = await leaveDraft();
    const next = await openNext(context);
    await press(next, 'review');
    expect((await submit(next)).headers.get('location')).toContain('/orders/');
    application.clock.advance({ seconds: 60 });
    expect(tickedIn(await (await openNext(context)).page())).toEqual([]);
  });

  it('is not restored after its user started a new request, and the page is empty', async () => {
    const context = await leaveDraft();
    const next = await openNext(context);
    const answer = await next.post('new-request', [['launch', next.launchId]]);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, next.home]);
    const html = await next.page();
    expect(tickedIn(html)).toEqual([]);
    expect(html).not.toContain('It has been restored');
    application.clock.advance({ seconds: 60 });
    expect(tickedIn(await (await openNext(context)).page())).toEqual([]);
  });

  it('is the one that was changed last, when two windows were open at once', async () => {
    const context = await leaveDraft();
    const [one, other] = [await openNext(context), await openNext(context)];
    for (const launch of [one, other]) await press(launch, 'update');
    await press(one, 'update', { tick: ['BUE'] });
    application.clock.advance({ seconds: 1 });
    await press(other, 'update', { tick: ['BLFT'] });
    application.clock.advance({ seconds: 1 });
    expect(tickedIn(await (await openNext(context)).page())).toEqual(['HFBC', 'BLFT', 'XCXR']);
    // The other window has its own.
    expect(tickedIn(await one.page())).toEqual(['HFBC', 'BUE', 'XCXR']);
  });

  it('in a window that is still open can be changed after another was submitted, and is found then', async () => {
    const context = await leaveDraft();
    const [one, other] = [await openNext(context), await openNext(context)];
    await press(one, 'review');
    await press(other, 'update', { tick: ['BUE'] });
    await submit(one);
    application.clock.advance({ seconds: 1 });
    expect(tickedIn(await (await openNext(context)).page())).toEqual([]);
    await press(other, 'update', { tick: ['BLFT'] });
    expect(tickedIn(await (await openNext(context)).page())).toEqual(['HFBC', 'BUE', 'BLFT', 'XCXR']);
  });
});
