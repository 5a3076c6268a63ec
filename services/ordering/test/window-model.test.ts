import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Application,
  aLaunchContext,
  aPatient,
  fieldValues,
  type OpenLaunch,
  rowsOf,
  startOrdering,
  TestBrowser,
  tokenIn,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

/** Tests without a minimum interval, so that no order of a patient needs a reason. */
const codes = ['HFBC', 'BUE', 'BLFT', 'BCRP'];

/** The page of a review, as one window shows it. */
type ReviewPage = { readonly fields: [string, string][]; readonly choice: number; readonly tests: number };

/** A window, and the data that the server must have stored for this window. */
type ModelWindow = {
  readonly launch: OpenLaunch;
  readonly browser: ModelBrowser;
  readonly subject: string;
  /** The pages of the review, newest last. A restored tab or a late form may send an older page. */
  readonly pages: ReviewPage[];
  tests: number;
  text: string;
  order: string | undefined;
};

/** A browser, its chosen subject (a user and a patient), and how often another subject was chosen. */
type ModelBrowser = { readonly jar: TestBrowser; chosen: string; choice: number };

type Step = readonly [kind: string, of: number, other: number];

/** The users, patients and windows of one run, with the rules that the server must follow. */
class Model {
  readonly windows: ModelWindow[] = [];
  readonly #closed: ModelWindow[] = [];
  readonly #browsers = [0, 1].map((): ModelBrowser => ({ jar: new TestBrowser(), chosen: '', choice: 0 }));
  readonly #patients = [0, 1, 2].map(() => aPatient());
  readonly #users = [0, 1].map(() => ({ ...aLaunchContext().request.author, username: randomUUID() }));
  #texts = 0;

  async open(of: number, other: number): Promise<void> {
    const [browser, patient, author] = [
      at(this.#browsers, of === 3 ? 1 : 0),
      at(this.#patients, other),
      at(this.#users, other > 3 ? 1 : 0),
    ];
    const request = { patient, author };
    const launch = await application.openLaunch(aLaunchContext({ request }), { browser: browser.jar });
    const subject = `${author.username} ${patient.identifiers[0]?.value}`;
    expectSame((await launch.send('')).status, 200);
    choose(browser, subject);
    const window = { launch, browser, subject, pages: [], tests: 0, text: '', order: undefined };
    this.windows.push(window);
    await this.addTest(window);
  }

  async addTest(window: ModelWindow): Promise<void> {
    const code = codes[window.tests];
    if (code === undefined) return;
    const added = await window.launch.post('chosen', [['action', `add:${code}`]]);
    expectSame(added.status, window.order === undefined ? 200 : 303);
    if (window.order === undefined) window.tests += 1;
  }

  /** Reads the review. A chosen window shows the text that was sent last. */
  async review(window: ModelWindow): Promise<void> {
    const response = await window.launch.send('review');
    const html = await response.text();
    expectSame(response.status, statusOf(window));
    if (response.status !== 200) return;
    expectSame(/<textarea[^>]*>([^<]*)</.exec(html)?.[1], window.text);
    const fields: [string, string][] = [
      ['version', fieldValues(html, 'version')[0] ?? ''],
      ['window', tokenIn(html) ?? ''],
    ];
    window.pages.push({ fields, choice: window.browser.choice, tests: window.tests });
  }

  /** Reads the first page again, as a restored or reloaded tab does. */
  async restore(window: ModelWindow): Promise<void> {
    expectSame((await window.launch.send('')).status, statusOf(window));
  }

  /** Sends typed text without a submission, even from a locked window. */
  async type(window: ModelWindow): Promise<void> {
    const text = this.#nextText();
    const typed = await window.launch.post('review', [
      ['details', text],
      ['action', 'back'],
    ]);
    expectSame(typed.status, 303);
    if (window.order === undefined) window.text = text;
  }

  async unlock(window: ModelWindow): Promise<void> {
    expectSame((await window.launch.post('window', [['to', 'review']])).status, 303);
    choose(window.browser, window.subject);
  }

  /**
   * Sends the form of a page of the review. If the reply is lost, only the stored order shows the outcome.
   */
  async submit(window: ModelWindow, { age = 0, isLost = false } = {}): Promise<void> {
    const page = window.pages.at(-1 - age);
    if (page === undefined) return;
    const text = this.#nextText();
    const expected = outcomeOf(window, page);
    const outcome = await send(window, page, text);
    if (!isLost) expectSame(outcome, expected);
    settle(window, expected, text);
  }

  /** Submits in one window while the user chooses another. The server may receive either request first. */
  async race(window: ModelWindow, other: ModelWindow): Promise<void> {
    const page = window.pages.at(-1);
    if (page === undefined) return;
    const text = this.#nextText();
    const first = outcomeOf(window, page);
    const [outcome] = await Promise.all([send(window, page, text), this.unlock(other)]);
    expectSame([first, outcomeOf(window, page)].includes(outcome), true);
    settle(window, outcome, text);
  }

  /** Closes a window, unless it is the only open window. The server is not notified. */
  close(window: ModelWindow): void {
    if (this.windows.length > 1) this.#closed.push(...this.windows.splice(this.windows.indexOf(window), 1));
  }

  /** Compares every window with the stored orders, and reads the text of windows without an order. */
  async end(): Promise<void> {
    for (const window of [...this.windows, ...this.#closed]) {
      const rows = await rowsOf(application, window.launch);
      expectSame(
        rows.map(({ clinical_details: text }) => text),
        window.order === undefined ? [] : [window.order],
      );
      if (window.order !== undefined) continue;
      await this.unlock(window);
      await this.review(window);
    }
  }

  #nextText(): string {
    this.#texts += 1;
    return `Text ${this.#texts}`;
  }
}

function expectSame(actual: unknown, expected: unknown): void {
  expect(actual).toEqual(expected);
}

const at = <Part>(parts: readonly Part[], index: number): Part => {
  const part = parts[index % parts.length];
  if (part === undefined) throw new Error('There is no part');
  return part;
};

function choose(browser: ModelBrowser, subject: string): void {
  if (browser.chosen === subject) return;
  browser.chosen = subject;
  browser.choice += 1;
}

/** Returns the expected status: 303 after the order, 200 in a chosen window, 409 in a locked window. */
const statusOf = ({ order, browser, subject }: ModelWindow) =>
  order !== undefined ? 303 : browser.chosen === subject ? 200 : 409;

/** Returns the expected outcome of submitting a page of the review. */
function outcomeOf({ order, browser, subject, tests }: ModelWindow, page: ReviewPage): string {
  if (order !== undefined) return 'submitted';
  if (browser.chosen !== subject || browser.choice !== page.choice) return 'locked';
  return page.tests === tests ? 'submitted' : 'changed';
}

async function send({ launch }: ModelWindow, page: ReviewPage, text: string): Promise<string> {
  const response = await launch.post('review', [...page.fields, ['details', text], ['action', 'submit']]);
  if (response.status === 409) return 'locked';
  const location = response.headers.get('location') ?? '';
  return location.includes('/orders/')
    ? 'submitted'
    : location.endsWith('review?changed')
      ? 'changed'
      : location;
}

function settle(window: ModelWindow, outcome: string, text: string): void {
  if (window.order !== undefined) return;
  window.text = text;
  if (outcome === 'submitted') window.order = text;
}

const kinds: Readonly<
  Record<string, (model: Model, window: ModelWindow, other: ModelWindow) => Promise<void>>
> = {
  'choose a test': (model, window) => model.addTest(window),
  review: (model, window) => model.review(window),
  restore: (model, window) => model.restore(window),
  type: (model, window) => model.type(window),
  unlock: (model, window) => model.unlock(window),
  submit: (model, window) => model.submit(window),
  'submit an older page': (model, window) => model.submit(window, { age: 1 }),
  'submit, and lose the reply': (model, window) => model.submit(window, { isLost: true }),
  race: (model, window, other) => model.race(window, other),
  close: async (model, window) => model.close(window),
};

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('open', 'review', 'submit', 'unlock', ...Object.keys(kinds)),
  // Uses few windows, so that several steps act on the same window.
  fc.nat({ max: 3 }),
  fc.nat({ max: 5 }),
);

async function play(steps: readonly Step[]): Promise<void> {
  const model = new Model();
  await model.open(0, 0);
  for (const [kind, of, other] of steps) {
    if (kind === 'open') await model.open(of, other);
    else await kinds[kind]?.(model, at(model.windows, of), at(model.windows, other));
  }
  await model.end();
}

/** Submits a page that was read before its window was locked and unlocked again. */
const reopened: Step[] = [
  ['open', 0, 1],
  ['unlock', 0, 0],
  ['review', 0, 0],
  ['unlock', 1, 0],
  ['unlock', 0, 0],
  ['submit', 0, 0],
];

const isLong = process.env['LONG'] === '1';
/**
 * Runs 2,000 sequences with `LONG=1` in the environment. Each seed is a separate test, so that no test
 * exceeds its time limit.
 */
const seeds = Array.from({ length: isLong ? 20 : 1 }, (_, index) => 20_261_125 + index);

describe('any sequence of actions by two users with three patients in two browsers', () => {
  it.each(seeds)(
    'submits orders only from the chosen window, each once, and loses no text: seed %i',
    async (seed) => {
      const steps = fc.array(step, { minLength: 12, maxLength: 20 });
      await fc.assert(fc.asyncProperty(steps, play), {
        numRuns: isLong ? 100 : 10,
        seed,
        examples: [[reopened]],
        endOnFailure: true,
      });
    },
  );
});
