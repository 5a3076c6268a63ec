import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { useDesk } from './desk.ts';
import { aLaunchContext, anOrder, aPatient, chooseAndReview, fieldValues, openAction } from './launches.ts';

const desk = useDesk();

/**
 * The widest names within the limits of the specification: a surname of 70 characters, given names of 35 in
 * total, and a previous surname of 35.
 */
const widest = {
  name: { title: 'W'.repeat(35), family: 'W'.repeat(70), given: ['W'.repeat(20), 'W'.repeat(15)] },
  previousFamilyName: 'W'.repeat(35),
  address: { lines: Array.from({ length: 5 }, () => 'W'.repeat(70)), postalCode: 'W'.repeat(10) },
  identifiers: [{ system: 'hospital-number' as const, value: 'W'.repeat(24) }],
};

type PrintOptions = {
  readonly of?: object;
  /** The number of tubes of the first and the second sample. */
  readonly quantities?: readonly [string, string];
  readonly hasScript?: boolean;
  /** The query of the URL, with the label stock and the first free label. */
  readonly query?: string;
};

/**
 * Orders tests with two samples, records the first sample, and opens the form or the labels of the order in a
 * browser.
 */
async function openPaper(
  paper: 'form' | 'labels',
  { of = {}, quantities = ['1', '1'], hasScript = true, query = '' }: PrintOptions = {},
) {
  const { patient } = aLaunchContext().request;
  const context = aLaunchContext({ request: { patient: { ...patient, ...of } } });
  const order = await anOrder(desk.application, ['HFBC', 'BUE', 'XCXR'], context);
  const collector = await openAction(desk.application, 'PatientSampleQueue', order);
  const html = await collector.page(`requests/${order.guid}/samples`);
  await collector.post(`requests/${order.guid}/samples`, [
    ['submission', fieldValues(html, 'submission')[0] ?? ''],
    ['version', fieldValues(html, 'version')[0] ?? ''],
    ['taken:S1', 'yes'],
    ['quantity:S1', quantities[0]],
    ['quantity:S2', quantities[1]],
    ['by', 'W'.repeat(100)],
    ['day', '2'],
    ['month', '3'],
    ['year', '2026'],
    ['time', '9:05'],
    ['action', 'record'],
  ]);
  const reader = await openAction(desk.application, 'PatientReport', order);
  const path = `requests/${order.guid}/${paper}${query}`;
  const { page } = await desk.open(reader, { path, javaScriptEnabled: hasScript });
  return page;
}

/** The properties of an element that a script in the browser returns. */
type Box = {
  readonly className: string;
  readonly scrollWidth: number;
  readonly clientWidth: number;
  readonly scrollHeight: number;
  readonly clientHeight: number;
};

/**
 * Returns the classes of elements whose content overflows by more than a pixel. Rounding may cause an
 * overflow of one pixel.
 */
const overflowing = (boxes: readonly Box[]) =>
  boxes
    .filter((box) => box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1)
    .map(({ className }) => className);

const boxesOf = (page: Awaited<ReturnType<typeof openPaper>>, selector: string) =>
  page.locator(selector).evaluateAll((elements): Box[] =>
    (elements as unknown as Box[]).map((box) => ({
      className: box.className,
      scrollWidth: box.scrollWidth,
      clientWidth: box.clientWidth,
      scrollHeight: box.scrollHeight,
      clientHeight: box.clientHeight,
    })),
  );

/** Returns the width and height of each page of a PDF, in millimetres. */
const sizesOf = (pdf: Buffer) =>
  [...pdf.toString('latin1').matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map((box) =>
    box.slice(1).map((points) => Math.round((Number(points) / 72) * 25.4)),
  );

const pagesOf = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length;

describe('the printed form and labels of a request', () => {
  it.each([
    [['2', '1'], 3, 1],
    [['20', '4'], 24, 1],
    [['20', '5'], 25, 2],
  ] as const)(
    'with the tube quantities %s for two samples include %d labels, on sheets of 24: %d',
    async (quantities, count, sheets) => {
      const page = await openPaper('labels', { quantities });
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('.app-label:visible svg[role="img"]:visible').count()).toBe(count);
      expect(pagesOf(await page.pdf({ preferCSSPageSize: true }))).toBe(sheets);
      await page.context().close();
    },
  );

  it.each([
    ['a4-24', 70, 36, [[210, 297]]],
    [
      'roll-51x25',
      51,
      25,
      [
        [51, 25],
        [51, 25],
        [51, 25],
      ],
    ],
    [
      'roll-57x32',
      57,
      32,
      [
        [57, 32],
        [57, 32],
        [57, 32],
      ],
    ],
    [
      'roll-89x36',
      89,
      36,
      [
        [89, 36],
        [89, 36],
        [89, 36],
      ],
    ],
  ] as const)(
    'fit the widest names of the specification on a label of %s (%d by %d mm), without cutting a surname',
    async (stock, width, height, pages) => {
      const page = await openPaper('labels', {
        of: widest,
        quantities: ['2', '1'],
        query: `?stock=${stock}`,
      });
      await page.emulateMedia({ media: 'print' });
      const label = await page.locator('.app-label').first().boundingBox();
      const mm = 96 / 25.4;
      const size = [label?.width, label?.height].map((pixels) => Math.round((pixels ?? 0) / mm));
      expect(size).toEqual([width, height]);
      const text = '.app-label, .app-label__name, .app-label__who, .app-label__description';
      expect(overflowing(await boxesOf(page, text))).toEqual([]);
      expect(sizesOf(await page.pdf({ preferCSSPageSize: true }))).toEqual(pages);
      await page.context().close();
    },
  );

  it.each([
    [22, 1],
    [23, 2],
  ])(
    'start at label %d of a used sheet if the user selects that label, and fill %d sheets',
    async (start, sheets) => {
      const page = await openPaper('labels', { quantities: ['2', '1'] });
      await page.getByLabel('First free label on the sheet').selectOption(String(start));
      const pdf = await page.pdf({ preferCSSPageSize: true });
      expect(pagesOf(pdf)).toBe(sheets);
      await page.getByLabel('Labels in the printer').selectOption('roll-51x25');
      expect(sizesOf(await page.pdf({ preferCSSPageSize: true }))).toHaveLength(3);
      const remembered = await page.context().cookies();
      expect(remembered.find(({ name }) => name === 'label-stock')?.value).toBe('roll-51x25');
      await page.context().close();
    },
  );

  it('show the widest names in full on the form, with one page for each laboratory', async () => {
    const page = await openPaper('form', { of: widest });
    await page.emulateMedia({ media: 'print' });
    expect(
      overflowing(await boxesOf(page, '.app-form, .app-form div, .app-form p, .app-form dd, .app-form td')),
    ).toEqual([]);
    expect(await page.locator('.app-form svg[role="img"]:visible').count()).toBe(2);
    expect(pagesOf(await page.pdf({ preferCSSPageSize: true }))).toBe(2);
    await page.context().close();
  });

  it.each(['form', 'labels'] as const)('have black bars on white in forced colours: %s', async (paper) => {
    const page = await openPaper(paper);
    await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    const bars = page.locator(`${paper === 'form' ? '.app-form__code' : '.app-label'} svg`).first();
    const png = (await bars.screenshot()).toString('base64');
    // The policy of the page allows no images, so an empty page reads the colours.
    const reader = await page.context().newPage();
    const reds = await reader.evaluate<number[]>(`(async () => {
      const image = await createImageBitmap(await (await fetch('data:image/png;base64,${png}')).blob());
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(0, Math.floor(image.height / 2), image.width, 1);
      return [...data].filter((_, at) => at % 4 === 0);
    })()`);
    expect([Math.min(...reds) < 64, Math.max(...reds) > 192]).toEqual([true, true]);
    await page.context().close();
  });

  it.each(['form', 'labels'] as const)(
    'contain no name, reference or test that a browser translates: %s',
    async (paper) => {
      const page = await openPaper(paper);
      const translated = await page.evaluate<string[]>(`(() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const texts = [];
        while (walker.nextNode())
          if (!walker.currentNode.parentElement.closest('[translate="no"]')) texts.push(walker.currentNode.data);
        return texts;
      })()`);
      expect(translated.length).toBeGreaterThan(20);
      expect(translated.filter((text) => /whitfield|blood|chest|NCP-\d|9434765919/i.test(text))).toEqual([]);
      await page.context().close();
    },
  );

  it.each(['form', 'labels'] as const)(
    'are printed without the header, banner and buttons of the page: %s',
    async (paper) => {
      const page = await openPaper(paper);
      const own = paper === 'form' ? '.app-form' : '.app-labels';
      const aside = page.locator(
        'header, nav, footer, .app-patient, .app-context, h1, button, .app-printing',
      );
      expect(await aside.filter({ visible: true }).count()).toBeGreaterThan(5);
      await page.emulateMedia({ media: 'print' });
      expect(await aside.filter({ visible: true }).count()).toBe(0);
      expect(await page.locator(own).first().isVisible()).toBe(true);
      await page.context().close();
    },
  );

  /** Presses “Submit and print” for an order of one test, in a browser. */
  async function submitAndPrint(hasScript: boolean) {
    const context = aLaunchContext({ request: { patient: aPatient() } });
    const launch = await chooseAndReview(desk.application, ['HFBC'], context);
    const notePrints = `globalThis.printed = [];
      globalThis.dialogsClosed = 0;
      addEventListener('afterprint', () => { dialogsClosed += 1; });
      addEventListener('beforeprint', () =>
        printed.push(document.querySelector('[data-now] .app-label') ? 'labels' : 'form'))`;
    const { page } = await desk.open(launch, {
      path: 'review',
      javaScriptEnabled: hasScript,
      prepare: (browser) => browser.addInitScript(notePrints),
    });
    await page.getByRole('button', { name: 'Submit and print' }).click();
    await page.waitForURL(/\/orders\/[0-9a-f-]{36}/, { waitUntil: 'load' });
    return page;
  }

  it('are printed after the submission, the form before the labels', async () => {
    const page = await submitAndPrint(true);
    const printed = () => page.evaluate<string>('printed.join()');
    await until(async () => (await printed()).startsWith('form'));
    const isClosed = await page.evaluate<boolean>('dialogsClosed > 0');
    // If the first print dialog is still open, the browser ignores the second dialog. The test then checks
    // which content the page would print.
    if (!isClosed) await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    const isLabels = () => page.locator('[data-now] .app-label').count();
    await until(async () => (isClosed ? (await printed()) === 'form,labels' : (await isLabels()) === 1));
    expect(await page.locator('[data-now]').count()).toBe(isClosed ? 0 : 1);
    expect(page.url()).not.toContain('print');
    await page.context().close();
  });

  it('are printed by the browser’s own print command if scripts are disabled', async () => {
    const page = await submitAndPrint(false);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('heading', { name: 'What to do next' }).isVisible()).toBe(false);
    expect(sizesOf(await page.pdf({ preferCSSPageSize: true }))).toEqual([
      [210, 297],
      [210, 297],
    ]);
    await page.context().close();
  });

  it('are printed by the Print button of their page', async () => {
    const page = await openPaper('labels');
    const printed = page.evaluate(
      `new Promise((resolve) => addEventListener('beforeprint', () => resolve(true), { once: true }))`,
    );
    await page.getByRole('button', { name: 'Print', exact: true }).press('Enter');
    expect(await printed).toBe(true);
    await page.context().close();
  });

  it('explain how to print and have no Print button if scripts are disabled', async () => {
    const page = await openPaper('labels', { hasScript: false });
    expect(await page.getByRole('button', { name: 'Print', exact: true }).count()).toBe(0);
    expect(await page.locator('noscript p').isVisible()).toBe(true);
    await page.context().close();
  });
});
