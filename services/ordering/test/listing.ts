import { randomInt, randomUUID } from 'node:crypto';
import type { Action, LaunchContext, LaunchRequest } from '@clinical-launch/contracts';
import { type Application, aLaunchContext, anOrder, type OpenLaunch } from './launches.ts';

type Overrides = { request?: Partial<LaunchRequest>; client?: Partial<LaunchContext['client']> };

/** A practice that no other test has. */
export const aPractice = (): LaunchRequest['practice'] => ({
  identifier: { system: 'ods-organization-code', value: `P${randomUUID()}` },
  name: 'Harbour Surgery',
});

/** A patient whom no other test has. */
export const aPatient = (patient: Partial<LaunchRequest['patient']> = {}): LaunchRequest['patient'] => ({
  ...aLaunchContext().request.patient,
  identifiers: [{ system: 'nhs-number', value: `9${randomInt(1e8, 1e9)}` }],
  ...patient,
});

/** Orders tests; the order is given back with the reference of its first batch. */
export async function orderFor(application: Application, overrides: Overrides, tests = ['HFBC']) {
  const order = await anOrder(application, tests, aLaunchContext(overrides));
  // Of two requests of one instant the list has no order that a test could know.
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
    aLaunchContext({ request: { ...request, action }, ...(client === undefined ? {} : { client }) }),
  );
}

/** The links of the rows of a list. */
export const linksIn = (html: string) =>
  [...html.matchAll(/app-list__step"[^]*?href="([^"]*)"/g)].map(([, href = '']) => href);

/** The GUIDs of the requests that a page lists, from the top. */
export const listedIn = (html: string) => linksIn(html).map((href) => /requests\/([^/]*)/.exec(href)?.[1]);

/** The address of a link between pages. */
export const pageLink = (html: string, rel: 'prev' | 'next') =>
  new RegExp(`href="([^"]*)" rel="${rel}"`).exec(html)?.[1];

/** The text of a page, without its marks. */
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

/** Looks for something in the list and gives the page that is found. */
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
