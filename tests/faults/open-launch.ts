import type { Action } from '@clinical-launch/contracts/launch-context';
import { createPkcePair } from '@clinical-launch/pms-client';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import type { Caller } from './caller.ts';
import { order, recordSample } from './orders.ts';
import { sendRequest } from './send-request.ts';
import type { System } from './system.ts';

/** A launch, from the request of the PMS to the first page of its user. */
export type Opening = {
  /** The access token of the PMS. */
  readonly token: string;
  /** The launch's name in the journal. */
  readonly launch: string;
  readonly action: Action;
  /** The caller's identifier. For an action on an existing request, the identifier of that request. */
  readonly originatingId: string;
  /** Whether the identifier and the launch URL are each used a second time, which must be refused. */
  readonly isRepeated: boolean;
  /** Waits before the launch URL is opened, the first and the second time. */
  readonly hesitate: () => Promise<void>;
};

/** A launch session in the browser. */
export type Session = {
  readonly cookie: string;
  /** `/oltr/{launchId}` */
  readonly home: string;
};

/** Opens a launch. Resolves with its session, or undefined if no answer opened the launch. */
export async function openLaunch(caller: Caller, opening: Opening): Promise<Session | undefined> {
  const { token, launch, action, originatingId, isRepeated, hesitate } = opening;
  const { codeVerifier, codeChallenge } = createPkcePair();
  const request = {
    launch,
    path: '/AccessApi/RequestLaunchUrl',
    headers: { Authorization: `Bearer ${token}`, 'Code-Challenge': codeChallenge },
    body: JSON.stringify(aServiceRequest({ action, originatingId })),
  };
  // The identifier stays claimed even if the answer was lost, so 409 proves that the launch URL was created.
  // An amendment claims no identifier.
  const issued =
    action === 'OrderTest'
      ? await caller.call({ step: 'issue', ...request, expected: [200], expectedLater: [409] })
      : await caller.call({ step: 'issue amendment', ...request, expected: [200] });
  if (isRepeated && issued !== undefined) {
    await caller.call({ step: 'issue again', ...request, expected: [409] });
  }
  if (issued?.status !== 200) return undefined;

  await hesitate();
  const { pathname, search } = new URL(JSON.parse(issued.body).url);
  const redemption = { launch, path: `${pathname}${search}&codeVerifier=${codeVerifier}` };
  const opened = await caller.call({
    step: 'redeem',
    ...redemption,
    expected: [200],
    expectedLater: [410],
    tokenAskedAt: issued.askedAt,
  });
  if (isRepeated && opened !== undefined) {
    await hesitate();
    await caller.call({ step: 'redeem again', ...redemption, expected: [410] });
  }
  if (opened?.status !== 200) return undefined;
  const setCookie = opened.headers['set-cookie']?.[0] ?? '';
  const [, cookie = '', home = ''] = /^(launch-session=[^;]+);.*Path=(\/oltr\/[^;]+)/.exec(setCookie) ?? [];
  return { cookie, home };
}

/** A launch that the load generator performs. */
type LaunchPlan = {
  /** The caller's identifier of the launch. */
  readonly launch: string;
  /** Whether the user orders a test and reads the order document. */
  readonly hasOrder: boolean;
  /** Whether the sample of that order is recorded in another launch. */
  readonly isAmended: boolean;
  /** Whether the identifier and the launch URL are each used a second time, which must be refused. */
  readonly isRepeated: boolean;
  /** Waits before the launch URL is opened, the first and the second time. */
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

/** Requests the access token for all launches. @throws Error if no token is issued */
export async function fetchAccessToken({ call }: Caller): Promise<string> {
  const answer = await call({ step: 'token', launch: '', ...tokenRequest, expected: [200] });
  const { access_token: token } = JSON.parse(answer?.body ?? '{}');
  if (typeof token !== 'string') throw new Error('There is no access token');
  return token;
}

/** Requests a token from the identity provider, only to cause the events and metrics of a token request. */
export async function requestToken(system: System): Promise<void> {
  const [identityProvider] = system.replicasOf('identity-provider');
  const { path, body } = tokenRequest;
  await sendRequest({ url: `${identityProvider?.url}${path.replace('/idp', '')}`, body });
}

/** Plays a whole launch. Resolves with true if an answer confirmed that its token was redeemed. */
export async function playLaunch(
  caller: Caller,
  token: string,
  { launch, hasOrder, isAmended, isRepeated, hesitate }: LaunchPlan,
): Promise<boolean> {
  const opening = { token, originatingId: launch, hesitate };
  const session = await openLaunch(caller, { ...opening, launch, action: 'OrderTest', isRepeated });
  if (session === undefined) return false;
  const guid = hasOrder ? await order({ caller, launch, session }) : undefined;
  if (guid === undefined || !isAmended) return true;

  const amendment = `${launch} amended`;
  const later = { ...opening, launch: amendment, action: 'PatientSampleQueue', isRepeated: false } as const;
  const laterSession = await openLaunch(caller, later);
  if (laterSession !== undefined) {
    await recordSample({ caller, launch: amendment, session: laterSession }, guid);
  }
  return true;
}
