import { randomUUID } from 'node:crypto';
import { assertCloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { type Action, actions, type LaunchPatient } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  anOrder,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  openAction,
  openForOrder,
  startOrdering,
  startOrderingOnPostgres,
} from './launches.ts';
import { publishedBy } from './published-events.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const { patient } = aLaunchContext().request;

/** Submits an order for a patient, and opens a PatientReport launch for that order. */
async function openReader(tick: string[], of: Partial<LaunchPatient> = {}) {
  const context = aLaunchContext({ request: { patient: { ...patient, ...of } } });
  return openAction(application, 'PatientReport', await anOrder(application, tick, context));
}

const form = (launch: { guid: string }) => `requests/${launch.guid}/form`;
const labels = (launch: { guid: string }) => `requests/${launch.guid}/labels`;

/** Returns the text of each form or label on a page. */
const papersOf = (html: string) =>
  (html.match(/<section class="app-form"[^]*?<\/section>|<li class="app-label"[^]*?<\/li>/g) ?? []).map(
    (paper) => paper.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '),
  );

const barcodesOf = (html: string) =>
  [...html.matchAll(/<svg [^>]*role="img" aria-label="Barcode ([A-Z]+-\d+)"/g)].map(([, text]) => text);

async function record(order: Awaited<ReturnType<typeof anOrder>>, fields: [string, string][]) {
  const collector = await openAction(application, 'PatientSampleQueue', order);
  const path = `requests/${order.guid}/samples`;
  const html = await collector.page(path);
  const hidden = ['submission', 'version'].map((name) => [name, fieldValues(html, name)[0] ?? ''] as const);
  const response = await collector.post(path, [...hidden, ...fields, ['action', 'record']]);
  expect(response.status).toBe(303);
}

describe('the request form', () => {
  it('has a sheet for each laboratory, with the patient and the barcode of the order reference', async () => {
    const launch = await openReader(['HFBC', 'BUE', 'XCXR']);
    const html = await launch.page(form(launch));
    const [pathology = '', imaging = '', ...more] = papersOf(html);
    expect(more).toEqual([]);
    expect(barcodesOf(html).map((text) => text?.slice(0, 3))).toEqual(['NCP', 'SVI']);
    for (const [index, sheet] of [pathology, imaging].entries()) {
      for (const said of [
        'WHITFIELD, Margaret Anne (Mrs)',
        'Born 28 February 1958',
        'NHS number 943 476 5919',
        '14 Quayside, Whitby, YO22 4EB',
        'Bairstow, Thomas (Dr) , G8134567',
        'Harbour Surgery , B82017',
        'Printed on 2 March 2026 at 09:30 by Okonkwo, Adaeze (Dr)',
        String(barcodesOf(html)[index]),
      ]) {
        expect(sheet).toContain(said);
      }
    }
    expect(pathology).toMatch(
      /North Coast Pathology.*Full blood count EDTA blood \(purple top\).*Serum \(gold top\) 1 Date and time Name/,
    );
    expect(imaging).toMatch(/Seaview Imaging Centre.*Chest X-ray No sample needed/);
    expect(imaging).not.toContain('Full blood count');
  });

  it('contains on each sheet only the answers to questions of that laboratory', async () => {
    const launch = await chooseAndReview(application, ['CINR', 'KFAE', 'XKNE']);
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    const submitted = await launch.post('review', [
      ['version', version],
      ['answer:anticoagulant', 'Warfarin'],
      ['answer:travel', 'Spain'],
      ['answer:side:XKNE', 'Left'],
      ['details', 'Fall'],
      ['action', 'submit'],
    ]);
    const guid = submitted.headers.get('location')?.split('/').at(-1) ?? '';
    const sheets = papersOf(await launch.page(`requests/${guid}/form`));
    const answers = ['Warfarin', 'Spain', 'Left'];
    expect(sheets.map((sheet) => answers.filter((answer) => sheet.includes(answer)))).toEqual(
      answers.map((answer) => [answer]),
    );
    for (const sheet of sheets) expect(sheet).toContain('Fall');
  });

  it('shows who collected a sample and when', async () => {
    const order = await anOrder(application, ['HFBC', 'BUE']);
    await record(order, [
      ['taken:S2', 'yes'],
      ['by', 'Nurse <Kelly>'],
      ['day', '2'],
      ['month', '3'],
      ['year', '2026'],
      ['time', '9:05'],
    ]);
    const launch = await openAction(application, 'PatientReport', order);
    const [sheet = ''] = papersOf(await launch.page(form(launch)));
    expect(sheet).toContain('EDTA blood (purple top) 1 2 March 2026 at 09:05 Nurse &lt;Kelly&gt;');
  });
});

describe('the sample labels', () => {
  it('include one label for each tube, with the patient, the order reference and space for a missing date and time', async () => {
    const order = await anOrder(application, ['BUE', 'HFBC', 'XCXR']);
    await record(order, [
      ['taken:S1', 'yes'],
      ['quantity:S1', '2'],
      ['by', 'Nurse'],
      ['day', '2'],
      ['month', '3'],
      ['year', '2026'],
      ['time', '9:05'],
    ]);
    const launch = await openAction(application, 'PatientReport', order);
    const html = await launch.page(labels(launch));
    const [reference = ''] = barcodesOf(html);
    expect(barcodesOf(html)).toEqual([reference, reference, reference]);
    const who = 'WHITFIELD , Margaret Anne Born 28 February 1958 F NHS number 943 476 5919';
    const where = `${reference} North Coast Pathology`;
    expect(papersOf(html).map((label) => label.trim())).toEqual([
      `${who} Serum (gold top) U&amp;E ${where} Collected 2 March 2026 at 09:05 1 of 2`,
      `${who} Serum (gold top) U&amp;E ${where} Collected 2 March 2026 at 09:05 2 of 2`,
      `${who} EDTA blood (purple top) FBC ${where} Collected date and time`,
    ]);
  });

  it('are not printed or recorded if no sample is needed', async () => {
    const launch = await openReader(['XCXR']);
    const html = await launch.page(labels(launch));
    expect(html).toContain('No samples are needed, so there are no labels to print.');
    expect(html).not.toContain('data-print');
    expect(await publishedBy(application, launch, 'order.printed.v1')).toEqual([]);
  });

  it('are not printed for samples that must be labelled by hand; the page lists these samples', async () => {
    const launch = await openReader(['CGRP', 'HFBC']);
    const html = await launch.page(labels(launch));
    expect(papersOf(html)).toEqual([expect.stringContaining('EDTA blood (purple top)')]);
    expect(html).toMatch(/Label these by hand when you collect them: Transfusion EDTA blood/);
  });

  it('never shorten an identifier: an identifier that does not fit must be written by hand', async () => {
    const longest = 'W'.repeat(24);
    const fits = await openReader(['HFBC'], { identifiers: [{ system: 'hospital-number', value: longest }] });
    expect(papersOf(await fits.page(labels(fits)))[0]).toContain(`Hospital number ${longest} `);
    const value = `${longest}W`;
    const tooLong = await openReader(['HFBC'], { identifiers: [{ system: 'hospital-number', value }] });
    const [label = ''] = papersOf(await tooLong.page(labels(tooLong)));
    expect(label).toContain('Hospital number write by hand');
    expect(label).not.toContain('WW');
  });

  it('show the NHS number if the patient also has a hospital number', async () => {
    const launch = await openReader(['HFBC'], {
      identifiers: [
        { system: 'hospital-number', value: randomUUID().slice(0, 8) },
        { system: 'nhs-number', value: '9434765870' },
      ],
    });
    expect(papersOf(await launch.page(labels(launch)))[0]).toContain('NHS number 943 476 5870');
  });
});

describe('a barcode', () => {
  it('has quiet zones of 10 modules, and modules of 0.254 mm', async () => {
    const launch = await openReader(['HFBC']);
    const [svg = ''] = /<svg [^]*?<\/svg>/.exec(await launch.page(labels(launch))) ?? [];
    const [, modules = '', width = ''] =
      /viewBox="0 0 (\d+) \d+" width="([\d.]+)mm"/.exec(svg)?.map(String) ?? [];
    const edges = [...svg.matchAll(/stroke-width="(\d)" d="([^"]*)"/g)].flatMap(([, bar, path = '']) =>
      [...path.matchAll(/M([\d.]+) /g)].flatMap(([, middle]) => [
        Number(middle) - Number(bar) / 2,
        Number(middle) + Number(bar) / 2,
      ]),
    );
    expect(edges.length).toBeGreaterThan(50);
    expect([Math.min(...edges), Number(modules) - Math.max(...edges)]).toEqual([10, 10]);
    expect(Number(width) / Number(modules)).toBeCloseTo(0.254, 3);
  });
});

describe('the pages with the form and the labels', () => {
  it.each([form, labels])('escape names: %p', async (paper) => {
    const hostile = '"><script>alert(1)</script>';
    const launch = await openReader(['HFBC'], { name: { family: hostile, given: [hostile] } });
    const html = await launch.page(paper(launch));
    expect(html.toLowerCase()).not.toContain('<script>alert');
    expect(html.toLowerCase()).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('contain no inline style, which their content security policy forbids', async () => {
    const launch = await openReader(['HFBC']);
    for (const paper of [form, labels]) {
      const response = await launch.send(paper(launch));
      expect(response.headers.get('content-security-policy')).toContain("style-src 'self';");
      expect(await response.text()).not.toMatch(/<[^>]* style=|<style/);
    }
  });

  it('are available in every action that may read the request', async () => {
    const order = await anOrder(application, ['HFBC']);
    for (const action of actions.filter((each) => each !== 'OrderTest')) {
      const launch = await openAction(application, action, order);
      for (const paper of [form, labels]) expect((await launch.send(paper(order))).status).toBe(200);
    }
  });

  it('are shown to OrderTest for its own order only', async () => {
    const { guid, context } = await anOrder(application, ['HFBC']);
    const own = await application.openLaunch(context);
    const other = await application.openLaunch(aLaunchContext());
    for (const paper of [form, labels]) {
      expect((await own.send(paper({ guid }))).status).toBe(200);
      expect((await other.send(paper({ guid }))).status).toBe(404);
    }
  });

  it('are not shown to a launch for another patient or another practice: the answer is 404', async () => {
    const { guid } = await anOrder(application, ['HFBC']);
    const identifiers = [{ system: 'nhs-number' as const, value: '9434765870' }];
    const practice = {
      identifier: { system: 'ods-organization-code' as const, value: 'B82099' },
      name: 'Quayside Surgery',
    };
    const strangers: [Action, object][] = [
      ['PatientReport', { patient: { ...patient, identifiers } }],
      ['LocationReportList', { practice }],
      ['LocationSampleQueue', { practice }],
    ];
    for (const [action, request] of strangers) {
      const launch = await application.openLaunch(aLaunchContext({ request: { action, ...request } }));
      for (const paper of [form, labels]) expect((await launch.send(paper({ guid }))).status).toBe(404);
      expect(await publishedBy(application, launch, 'order.printed.v1')).toEqual([]);
    }
  });
});

describe('the audit trail of printing', () => {
  const printsOf = async (launch: OpenLaunch) =>
    (await publishedBy(application, launch, 'order.printed.v1')).map(({ data }) => [
      data.what,
      data.isReprint,
    ]);

  it('records each print and whether it is a reprint; the page names the user who printed last', async () => {
    const first = await openForOrder(application, 'LocationReportList', ['HFBC']);
    expect(await first.page(labels(first))).not.toContain('Printed before');
    const { context } = first;
    const author = { username: 'k.ashworth', name: { family: 'Ashworth', given: ['Kelly'] } };
    const second = await application.openLaunch(aLaunchContext({ request: { ...context.request, author } }));
    expect(await second.page(form(first))).not.toMatch(/Printed before|Reprint/);
    application.clock.advance({ seconds: 60 });
    expect(await second.page(labels(first))).toContain(
      'Printed before on 2 March 2026 at 09:30 by <bdi>Okonkwo, Adaeze (Dr)</bdi>.',
    );
    expect(await second.page(labels(first))).toContain(
      'Printed before 2 times, last on 2 March 2026 at 09:31 by <bdi>Ashworth, Kelly</bdi>.',
    );
    expect(papersOf(await second.page(form(first)))[0]).toContain('by Ashworth, Kelly · Reprint');
    application.clock.advance({ seconds: -60 });
    const events = await publishedBy(application, first, 'order.printed.v1');
    for (const event of events) expect(() => assertCloudEvent(event)).not.toThrow();
    expect(events.map(({ data }) => data)).toMatchObject([
      {
        user: { username: first.context.request.author.username, name: 'Dr Adaeze Okonkwo' },
        orderGuid: first.guid,
        launchId: first.launchId,
        what: 'labels',
        isReprint: false,
      },
    ]);
    expect(await printsOf(second)).toEqual([
      ['form', false],
      ['labels', true],
      ['labels', true],
      ['form', true],
    ]);
  });

  it('counts each of several simultaneous prints once, on PostgreSQL', async () => {
    const replicated = await startOrderingOnPostgres();
    try {
      const launch = await openForOrder(replicated, 'PatientReport', ['HFBC']);
      const pages = await Promise.all(Array.from({ length: 6 }, () => launch.page(labels(launch))));
      const reported = pages.map((html) => /Printed before(?: (\d) times)?/.exec(html) ?? ['never']);
      expect(new Set(reported.map(([said, times]) => times ?? said))).toEqual(
        new Set(['never', 'Printed before', '2', '3', '4', '5']),
      );
      const events = await publishedBy(replicated, launch, 'order.printed.v1');
      expect(events.filter(({ data }) => !data.isReprint)).toHaveLength(1);
      expect(events).toHaveLength(6);
    } finally {
      await replicated.stop();
    }
  });

  it.each([form, labels])('does not record a HEAD request or a prefetch: %p', async (paper) => {
    const launch = await openForOrder(application, 'PatientReport', ['HFBC']);
    expect((await launch.send(paper(launch), { method: 'HEAD' })).status).toBe(200);
    for (const headers of [{ 'Sec-Purpose': 'prefetch' }, { Purpose: 'prefetch' }]) {
      const ahead = await launch.send(paper(launch), { headers });
      expect(ahead.status).toBe(400);
      expect(await ahead.text()).not.toMatch(/whitfield/i);
    }
    expect(await printsOf(launch)).toEqual([]);
    expect(await launch.page(paper(launch))).not.toContain('Printed before');
  });
});
