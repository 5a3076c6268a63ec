import { randomUUID } from 'node:crypto';
import type { Action, LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { type Application, aLaunchContext, anOrder, type OpenLaunch } from './launches.ts';

type Overrides = { request?: Partial<LaunchRequest>; client?: Partial<LaunchContext['client']> };

/** Returns a practice with a new ODS code. */
export const aPractice = (): LaunchRequest['practice'] => ({
  identifier: { system: 'ods-organization-code', value: `P${randomUUID()}` },
  name: 'Harbour Surgery',
});

/** Orders tests and advances the clock by a minute. Returns the request's GUID and its launch context. */
export async function orderFor(application: Application, overrides: Overrides, tests = ['HFBC']) {
  const order = await anOrder(application, tests, aLaunchContext(overrides));
  // Lists sort by time, so requests of the same instant have no defined order.
  application.clock.advance({ seconds: 60 });
  return order;
}

/** Opens a launch of an action that lists requests. */
export function openList(
  application: Application,
  action: Action,
  { request, client }: Overrides = {},
): Promise<OpenLaunch> {
  return application.openLaunch(
    aLaunchContext({ request: { ...request, action }, ...withoutUndefined({ client }) }),
  );
}

/** Returns the URL of the link in each row of a list. */
export const linksIn = (html: string) =>
  [...html.matchAll(/app-list__step"[^]*?href="([^"]*)"/g)].map(([, href = '']) => href);

/** Returns the GUIDs of the exact matches on a page, in their order. */
export const listedIn = (html: string) => guidsIn(html.split(similarRows)[0]);

/** Returns the GUIDs of the requests on a page that match by similar spelling, in their order. */
export const similarIn = (html: string) => guidsIn(html.split(similarRows)[1]);

const similarRows = 'app-list__similar';

const guidsIn = (html = '') => linksIn(html).map((href) => /requests\/([^/]*)/.exec(href)?.[1]);

/** Returns the URL of the link to the previous or the next page. */
export const pageLink = (html: string, rel: 'prev' | 'next') =>
  new RegExp(`href="([^"]*)" rel="${rel}"`).exec(html)?.[1];

/** Returns the text of a page, without its markup. */
export const textOf = (html: string) =>
  html
    .replace(/^[^]*<main[^>]*>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, '’')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();

/** Searches the list and returns the page of results. */
export async function search(launch: OpenLaunch, q: string, priority = 'any'): Promise<string> {
  const posted = await launch.post('requests', [
    ['launch', launch.launchId],
    ['q', q],
    ['priority', priority],
    ['action', 'search'],
  ]);
  if (posted.status !== 303) throw new Error(`The search was answered ${posted.status}`);
  return launch.page('requests');
}
