import { createPkcePair } from '@clinical-launch/pms-client';
import { aServiceRequest } from '@clinical-launch/testing';
import type { Caller } from './caller.ts';

/** One launch of the load. */
export type LaunchPlan = {
  /** The caller's identifier. */
  readonly launch: string;
  /** Whether its user orders a test and reads the order document. */
  readonly hasOrder: boolean;
  /** Whether identifier and launch URL are tried a second time, which has to be refused. */
  readonly isRepeated: boolean;
  /** Resolves when its user comes to open the launch URL, and when to try it a second time. */
  readonly hesitate: () => Promise<void>;
};

/** The client credentials grant of a PMS (OLTR: Authentication). */
export const tokenRequest = {
  path: '/idp/demo/oauth2/v2.0/token',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'pms-demo',
    client_secret: 'pms-demo-secret',
    scope: 'api://clinical-launch/.default',
  }),
};

/** Gets the access token that all launches use. @throws Error when there is none. */
export async function fetchAccessToken({ call }: Caller): Promise<string> {
  const answer = await call({ step: 'token', launch: '', ...tokenRequest, expected: [200] });
  const { access_token: token } = JSON.parse(answer?.body ?? '{}');
  if (typeof token !== 'string') throw new Error('There is no access token');
  return token;
}

/** Plays a launch to its end. Resolves with whether its token was redeemed by an answer that came. */
export async function playLaunch(
  caller: Caller,
  token: string,
  { launch, hasOrder, isRepeated, hesitate }: LaunchPlan,
): Promise<boolean> {
  const { codeVerifier, codeChallenge } = createPkcePair();
  const request = {
    launch,
    path: '/AccessApi/RequestLaunchUrl',
    headers: { Authorization: `Bearer ${token}`, 'Code-Challenge': codeChallenge },
    body: JSON.stringify(aServiceRequest({ originatingId: launch })),
  };
  // A claim whose answer was lost stands: 409 says that the launch URL was made.
  const issued = await caller.call({ step: 'issue', ...request, expected: [200], expectedLater: [409] });
  if (isRepeated && issued !== undefined) {
    await caller.call({ step: 'issue again', ...request, expected: [409] });
  }
  if (issued?.status !== 200) return false;

  await hesitate();
  const { pathname, search } = new URL(JSON.parse(issued.body).url);
  const opening = { launch, path: `${pathname}${search}&codeVerifier=${codeVerifier}` };
  const opened = await caller.call({
    step: 'redeem',
    ...opening,
    expected: [200],
    expectedLater: [410],
    tokenAskedAt: issued.askedAt,
  });
  if (isRepeated && opened !== undefined) {
    await hesitate();
    await caller.call({ step: 'redeem again', ...opening, expected: [410] });
  }
  if (opened?.status !== 200) return false;
  if (hasOrder) await order(caller, launch, opened.headers['set-cookie']?.[0] ?? '');
  return true;
}

/** What the user does in the OLTR application, by its forms; each step is safe to be repeated. */
async function order({ call }: Caller, launch: string, sessionCookie: string): Promise<void> {
  const [, cookie = '', home = ''] =
    /^(launch-session=[^;]+);.*Path=(\/oltr\/[^;]+)/.exec(sessionCookie) ?? [];
  const step = { launch, headers: { Cookie: cookie } };
  const choice = new URLSearchParams({ test: 'HFBC', action: 'review' });
  if (!(await call({ step: 'choose', ...step, path: `${home}/`, body: choice, expected: [303] }))) return;

  const review = await call({ step: 'review', ...step, path: `${home}/review`, expected: [200] });
  const [, version = ''] = /name="version" value="([^"]*)"/.exec(review?.body ?? '') ?? [];
  const submission = new URLSearchParams({ action: 'submit', version });
  const submitted = await call({
    step: 'submit',
    ...step,
    path: `${home}/review`,
    body: submission,
    expected: [303],
    orderOf: ({ headers }) => guidOf(headers.location),
  });
  const guid = guidOf(submitted?.headers.location);
  if (guid === undefined) return;
  await call({ step: 'result', ...step, path: `${home}/orders/${guid}`, expected: [200] });
  const isThisOrder = (body: string) => (body.includes(`<guid>${guid}</guid>`) ? guid : undefined);
  await call({
    step: 'document',
    ...step,
    path: `/orders/${guid}.xml`,
    expected: [200],
    orderOf: ({ body }) => isThisOrder(body),
  });
}

const guidOf = (location: string | undefined) => /\/orders\/([0-9a-f-]{36})$/.exec(location ?? '')?.[1];
