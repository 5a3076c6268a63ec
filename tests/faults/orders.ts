import type { Caller, TimedAnswer } from './caller.ts';
import type { Session } from './open-launch.ts';

/** A user in a launch: the caller, the launch's name in the journal, and its session. */
type Work = { readonly caller: Caller; readonly launch: string; readonly session: Session };

/** Returns an order's GUID and version as `Books` writes them. */
const stateOf = (guid: string, version: number) => `${guid} ${version}`;

/**
 * Orders a test through the forms of the OLTR application. Each step is idempotent. Resolves with the order's
 * GUID, or with undefined if the order was not submitted.
 */
export async function order(work: Work): Promise<string | undefined> {
  const { call } = work.caller;
  const { step, home } = stepOf(work);
  const choice = new URLSearchParams({ test: 'HFBC', action: 'review' });
  if (!(await call({ step: 'choose', ...step, path: `${home}/`, body: choice, expected: [303] }))) {
    return undefined;
  }
  const review = await call({ step: 'review', ...step, path: `${home}/review`, expected: [200] });
  // A form without its fields would be answered 409, as from a window that is not chosen.
  if (review === undefined) return undefined;
  const body = new URLSearchParams({ action: 'submit' });
  for (const name of ['version', 'window']) body.set(name, valueOf(review.body, name));
  const submitted = await call({
    step: 'submit',
    ...inBrowserOf(review, step),
    path: `${home}/review`,
    body,
    expected: [303],
    orderOf: ({ headers }) => stateOf(guidOf(headers.location), 1),
  });
  if (submitted === undefined) return undefined;
  const guid = guidOf(submitted.headers.location);
  await readDocument(work, guid, 1);
  return guid;
}

/** Records the sample of the order in a launch for the sample queue, and reads the result. */
export async function recordSample(work: Work, guid: string): Promise<void> {
  const { call } = work.caller;
  const { step, home } = stepOf(work);
  const path = `${home}/requests/${guid}/samples`;
  const page = await call({ step: 'samples', ...step, path, expected: [200] });
  if (page === undefined) return;
  const body = new URLSearchParams({ action: 'record' });
  for (const name of ['window', 'submission', 'version', 'by', 'day', 'month', 'year', 'time']) {
    body.set(name, valueOf(page.body, name));
  }
  const [, taken = ''] = /name="(taken:[^"]+)"/.exec(page.body) ?? [];
  body.set(taken, 'yes');
  const version = Number(body.get('version')) + 1;
  const orderOf = () => stateOf(guid, version);
  const recorded = await call({
    step: 'record',
    ...inBrowserOf(page, step),
    path,
    body,
    expected: [303],
    orderOf,
  });
  if (recorded !== undefined) await readDocument(work, guid, version);
}

async function readDocument(work: Work, guid: string, version: number): Promise<void> {
  const { call } = work.caller;
  const { step, home } = stepOf(work);
  await call({ step: 'result', ...step, path: `${home}/orders/${guid}`, expected: [200] });
  const status = version === 1 ? 'R' : 'S';
  const isThisState = (body: string) =>
    body.includes(`<guid>${guid}</guid>`) && body.includes(`<Status>${status}</Status>`);
  await call({
    step: 'document',
    ...step,
    path: `/orders/${guid}.xml?version=${version}`,
    expected: [200],
    orderOf: ({ body }) => (isThisState(body) ? stateOf(guid, version) : undefined),
  });
}

const stepOf = ({ launch, session: { cookie, home } }: Work) => ({
  step: { launch, headers: { Cookie: cookie } },
  home,
});

/** Adds the cookie of the browser, which the first page of a launch sets. */
function inBrowserOf(page: TimedAnswer | undefined, step: ReturnType<typeof stepOf>['step']) {
  const sent = (page?.headers['set-cookie'] ?? []).find((cookie) => cookie.startsWith('browser='));
  const [browser = ''] = sent?.split(';', 1) ?? [];
  return { ...step, headers: { Cookie: `${step.headers.Cookie}; ${browser}` } };
}

/** Returns the value of a field of a form. */
const valueOf = (html = '', name: string) =>
  new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(html)?.[1] ?? '';

const guidOf = (location = '') => /\/orders\/([0-9a-f-]{36})$/.exec(location)?.[1] ?? '';
