import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPages, textOf } from './running-pages.ts';
import { aLaunch, anEvent, bairstow } from './some-events.ts';

let pages: Awaited<ReturnType<typeof startPages>>;
beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.stop());

const time = (at: string) => `2026-07-01T${at}Z`;

/** Stores events of one launch and returns its page. */
async function pageOf(...events: readonly ((guid: string) => ReturnType<typeof anEvent>)[]) {
  const guid = randomUUID();
  await pages.store(...events.map((event) => event(guid)));
  const { html } = await pages.open(`/audit/launches/${guid}`);
  return { guid, html, text: textOf(html) };
}

describe('the page of a launch', () => {
  it('shows whether each submission ordered tests, changed the request or recorded samples', async () => {
    const submitted = (at: string, data: object) => (correlationId: string) =>
      anEvent('order.submitted.v1', { correlationId, time: time(at), data: { tests: 3, ...data } });
    const { text } = await pageOf(
      (guid) => aLaunch(guid, { time: time('13:00:00.000') }),
      submitted('13:00:01.000', { step: 'order' }),
      submitted('13:00:02.000', { step: 'change', tests: 1 }),
      submitted('13:00:03.000', { step: 'samples', samples: 2, samplesCollected: 1 }),
      // An event of an earlier release, without the step.
      submitted('13:00:04.000', { orderVersion: 4 }),
    );
    const done = text.match(/Tests submitted (?=3)|Request changed|Samples recorded \(1 of 2\)/g);
    expect(done).toEqual([
      'Tests submitted ',
      'Request changed',
      'Samples recorded (1 of 2)',
      'Request changed',
    ]);
    expect(text).toMatch(/Request changed 1 test /);
  });

  it('answers whether the launch and each of its orders were about a patient, by the number that was typed', async () => {
    const [system, mine, other] = ['nhs-number', '9434765919', '9434765870'];
    const patientOf = (value: string) => pages.pseudonyms.of({ system, value });
    const order = (second: number, reference: string, patient: string) => (correlationId: string) =>
      anEvent('order.submitted.v1', {
        correlationId,
        time: time(`13:00:0${second}.000`),
        data: {
          step: 'order',
          tests: 1,
          orderGuid: randomUUID(),
          orderReferences: [reference],
          patient: patientOf(patient),
        },
      });
    const { guid, text } = await pageOf(
      (id) => aLaunch(id, { time: time('13:00:00.000'), data: { patient: patientOf(mine) } }),
      order(1, 'NCP-000001', mine),
      order(2, 'NCP-000002', other),
    );
    expect(text).toMatch(/Was it this patient\? Enter the patient’s number/);
    const ask = (patientValue: string) =>
      pages.open(`/audit/launches/${guid}`, {
        method: 'POST',
        body: new URLSearchParams({ patientSystem: system, patientValue }),
      });
    const [no, yes] = ['Not by this number: the launch may have used another', 'Yes'];
    for (const [number, launch, first, second] of [
      [mine, yes, yes, no],
      [other, no, no, yes],
    ] as const) {
      const { status, html } = await ask(number.replace('943', '943 '));
      expect([status, textOf(html)]).toEqual([
        200,
        expect.stringContaining(`The launch ${launch} Order NCP-000001 ${first} Order NCP-000002 ${second} `),
      ]);
      expect(html).not.toContain(number);
      const searched = pages.published.at(-1);
      expect(searched?.data).toMatchObject({ searchedId: guid, patient: patientOf(number) });
    }
    const mistyped = await ask('9434765918');
    expect([mistyped.status, textOf(mistyped.html)]).toEqual([
      400,
      expect.stringContaining('Check the number'),
    ]);
    const nobody = await pageOf((correlationId) =>
      anEvent('launch.url.refused.v1', { correlationId, data: { status: 400, reason: 'invalid_payload' } }),
    );
    expect(nobody.text).not.toContain('Was it this patient?');
  });

  it('states that it shows only the newest 500 events if there are more', async () => {
    const viewed = (correlationId: string) =>
      anEvent('order.viewed.v1', { correlationId, time: time('13:00:00.000') });
    const shown = await pageOf(...Array.from({ length: 500 }, () => viewed));
    expect(shown.text).not.toContain('There are older events');
    await pages.store(viewed(shown.guid));
    const { html } = await pages.open(`/audit/launches/${shown.guid}`);
    expect(textOf(html)).toContain('There are older events');
  });

  it('shows times in the 24-hour clock, and units in the singular after the number 1', async () => {
    const { text } = await pageOf(
      (guid) => aLaunch(guid, { time: time('13:00:00.000') }),
      (correlationId) => anEvent('launch.token.redeemed.v1', { correlationId, time: time('13:00:00.001') }),
      (correlationId) => anEvent('order.viewed.v1', { correlationId, time: time('13:00:00.001') }),
      (correlationId) =>
        anEvent('orders.listed.v1', { correlationId, time: time('13:00:01.001'), data: { orders: 1 } }),
      (correlationId) =>
        anEvent('launch.token.refused.v1', {
          correlationId,
          time: time('13:01:01.001'),
          data: { status: 410, reason: 'token_used', count: 1 },
        }),
    );
    expect(text).toMatch(/1 July 2026 at 14:00:00 What happened Launch requested/);
    for (const words of [' 1 millisecond ', ' under 1 millisecond ', ' 1 second ', ' 1 request on the page'])
      expect(text).toContain(words);
    expect(text).not.toMatch(/\b1 (milliseconds|seconds|requests|tests)\b|together|\d[ap]m\b/);
  });

  it('shows how the user signed in if the launching system sent the sign-in', async () => {
    const signIn = { acr: 'AAL3', amr: ['sc', 'pin'], authTime: Date.parse(time('08:30:00')) / 1000 };
    const { text } = await pageOf((guid) => aLaunch(guid, { data: signIn }));
    expect(text).toContain('Sign-in AAL3, sc pin, 1 July 2026 at 09:30:00');
    expect((await pageOf((guid) => aLaunch(guid))).text).not.toContain('Sign-in');
  });

  it.each([
    ['launch.ended.v1', 'Launch ended by an operator'],
    ['desktop.chain.revoked.v1', 'Application launch ended'],
  ] as const)(
    'shows who ended a launch (event %s), even if a later request was refused',
    async (type, what) => {
      const data = { realm: 'demo/desktop', reason: 'ended_by_operator', by: 'A Operator, INC-7' };
      const { text } = await pageOf(
        (guid) => aLaunch(guid, { time: time('13:00:00.000') }),
        (correlationId) =>
          anEvent(type, { correlationId, source: '/operator', time: time('13:00:01.000'), data }),
        (correlationId) =>
          anEvent('launch.token.refused.v1', {
            correlationId,
            time: time('13:00:02.000'),
            data: { status: 401, reason: 'token_unknown' },
          }),
      );
      expect(text).toMatch(/The launch was ended Launch .+ What happened An operator ended the launch\./);
      expect(text).toContain(`What happened ${what} By A Operator, INC-7 Service Operator`);
    },
  );

  it('shows why a host application ended a launch', async () => {
    const data = { realm: 'demo/desktop', reason: 'ended_by_host', statedReason: 'INC-7: lost laptop' };
    const { text } = await pageOf(
      (guid) => aLaunch(guid),
      (correlationId) =>
        anEvent('desktop.chain.revoked.v1', { correlationId, source: '/identity-provider', data }),
    );
    expect(text).toContain(
      'What happened Application launch ended Reason: INC-7: lost laptop Service Identity provider',
    );
  });

  it('lists the faults of a payload, and drafts a message to the supplier', async () => {
    const refused = (data: object) => (correlationId: string) =>
      anEvent('launch.url.refused.v1', {
        correlationId,
        time: time('13:00:00.000'),
        data: { clientId: bairstow.clientId, status: 400, reason: 'invalid_payload', ...data },
      });
    const faults = { paths: ['contained[1].name[0].use', ''], codes: ['required', 'structure'] };
    const { guid, html, text } = await pageOf(refused(faults), refused({ step: 'validate' }));
    // A check of a payload is no refused launch.
    expect(text).toContain('Payload checked: not accepted');
    const box = html.slice(html.indexOf('id="faults"'), html.indexOf('</section>'));
    expect(textOf(`<main ${box}</main>`)).toContain(
      'contained[1].name[0].use is missing the whole body has the wrong structure',
    );
    expect(/<pre[^>]*>([^<]*)</.exec(box)?.[1]).toBe(
      [
        'Clinical Launch refused a request of pms: 400 invalid_payload',
        `Reference (X-Correlation-Id): ${guid}`,
        'Time: 2026-07-01T13:00:00.000Z',
        'Faults in the payload:',
        '- contained[1].name[0].use: required',
        '- the whole body: structure',
        'POST the payload to /AccessApi/Validate to get the remedy of each fault.',
      ].join('\n'),
    );
    // An event of an earlier release contains paths without codes. An event without paths shows no faults.
    expect((await pageOf(refused({ paths: ['subject'] }))).html).toMatch(/^- subject$/m);
    expect((await pageOf(refused({}))).html).not.toMatch(/id="faults"|<pre/);
  });
});
