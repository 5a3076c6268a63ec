import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { guidPattern } from '@clinical-launch/contracts/schema';
import { redirect, sendJson, sendText } from '@clinical-launch/http/answer';
import type { Guard, Handler } from '@clinical-launch/http/endpoint';
import { readSentCookies, setCookie } from '@clinical-launch/pages/cookies';
import { launchSessionCookieOptions } from '@clinical-launch/pages/launch-session';
import { faultyForm } from '../errors.ts';
import { presentLock } from '../present/lock-model.ts';
import type { SentWindow } from '../store/browsers.ts';
import { type EnteredWindow, enterWindow } from '../work/enter-window.ts';
import type { Dependencies } from './dependencies.ts';
import { isRead } from './page-guards.ts';
import { readLaunchForm, type Visit } from './visit.ts';

/**
 * Creates the guard of the pages from which the user can submit. In a window that is not the chosen window,
 * the guard answers with the notice instead of the page.
 */
export function inChosenWindow<Reached extends Visit>(dependencies: Dependencies): Guard<Reached, Reached> {
  return async (visit) => {
    // The response to HEAD has no body, so no window shows it.
    if (!isRead(visit)) return visit;
    const window = await enterWindowOf(visit, dependencies);
    if (window.isChosen) return { ...visit, window };
    showLocked(visit, dependencies, { window, to: toPath(visit) });
    return undefined;
  };
}

/**
 * Creates the guard of the pages that can only be read. A locked window still shows these pages, with a
 * warning.
 */
export function inAnyWindow<Reached extends Visit>(dependencies: Dependencies): Guard<Reached, Reached> {
  return async (visit) =>
    isRead(visit) ? { ...visit, window: await enterWindowOf(visit, dependencies) } : visit;
}

/**
 * Returns the state of the visit's window. If `isChoice` is true, chooses the window first. Sets the cookie
 * of a new browser.
 */
export async function enterWindowOf(
  visit: Visit,
  dependencies: Dependencies,
  { isChoice = false } = {},
): Promise<EnteredWindow> {
  const { request, response, context } = visit;
  const { isSecure } = dependencies;
  const cookie = randomBytes(32).toString('base64url');
  const browserKeys = readBrowserKeys(request, isSecure);
  const entered = await enterWindow(dependencies, visit, {
    browserKeys,
    newBrowserKey: keyOf(cookie),
    isChoice,
  });
  if (entered.isNewBrowser) {
    const isFramed = context.client.frameAncestors.length > 0;
    // The paths of all launches share the cookie. It ends with the browser session.
    const options = launchSessionCookieOptions({ path: '/oltr/', isSecure, isFramed });
    setCookie(response, { name: browserCookie(isSecure), value: cookie, ...options });
  }
  if (entered.locksOthers) dependencies.nudge();
  return entered;
}

/** Returns the window from which a form was sent, for the transaction that stores the submission. */
export const readSentWindow = (
  { request }: Visit,
  form: URLSearchParams,
  { isSecure }: Pick<Dependencies, 'isSecure'>,
): SentWindow => ({
  browserKeys: readBrowserKeys(request, isSecure),
  token: form.get('window') ?? '',
});

type Locked = {
  readonly window: EnteredWindow;
  /** The path of the locked page, relative to the launch. */
  readonly to: string;
  /** The typed fields of a page without a draft, which the notice sends back to that page. */
  readonly fields?: URLSearchParams;
};

/** Shows the notice of a locked window, with the button that unlocks it. */
export function showLocked(visit: Visit, dependencies: Dependencies, locked: Locked): void {
  visit.response.statusCode = 409;
  dependencies.show(visit, 'locked.njk', presentLock({ ...visit, ...locked }));
}

/** Shows the notice after a submission from a window that is not chosen. */
export async function refuseLocked(
  visit: Visit,
  dependencies: Dependencies,
  locked: Omit<Locked, 'window'>,
): Promise<void> {
  showLocked(visit, dependencies, { ...locked, window: await enterWindowOf(visit, dependencies) });
}

/**
 * Answers a script with the token of the chosen window, or 409 with the notice: `GET
 * /oltr/{launchId}/window`.
 */
export function checkWindow(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    const { response } = visit;
    const window = await enterWindowOf(visit, dependencies);
    if (window.isChosen) return sendJson(response, { token: window.token });
    response.statusCode = 409;
    const model = presentLock({ ...visit, window, to: '' });
    sendText(response, 'text/html', dependencies.pages.render('lock-notice.njk', model));
  };
}

/**
 * Chooses the window of this launch, and so locks the windows of other patients and users in the browser:
 * `POST /oltr/{launchId}/window`. Redirects to the page `to`. Answers a script, which sends no `to`, with the
 * new token.
 */
export function chooseWindow(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    const to = (await readLaunchForm(visit)).get('to');
    if (to !== null && !pages.test(to)) throw faultyForm();
    const window = await enterWindowOf(visit, dependencies, { isChoice: true });
    if (to !== null) return redirect(visit.response, `${visit.home}${to}`);
    sendJson(visit.response, { token: window.isChosen ? window.token : '' });
  };
}

const guid = guidPattern.slice(1, -1);

/** The paths of the pages that can be locked, relative to the launch. */
const pages = new RegExp(`^(?:(?:requests/${guid}/tests/)?(?:review)?|requests/${guid}/samples)$`);

/** Returns the path of the current page, relative to the launch and without its query. */
export function toPath({ request, home }: Visit): string {
  const [path = ''] = (request.url ?? '').split('?');
  const to = path.startsWith(home) ? path.slice(home.length) : '';
  return pages.test(to) ? to : '';
}

/**
 * Returns the name of the cookie that all windows of one browser share, or all frames of one storage
 * partition. The value is random, authenticates nobody, and contains nothing about the user.
 */
const browserCookie = (isSecure: boolean) => (isSecure ? '__Secure-browser' : 'browser');

/** Returns the keys of the browsers whose cookies a request contains. The database stores only these keys. */
const readBrowserKeys = (request: IncomingMessage, isSecure: boolean): readonly string[] =>
  readSentCookies(request, browserCookie(isSecure)).map(keyOf);

const keyOf = (cookie: string) => createHash('sha256').update(cookie).digest('hex');
