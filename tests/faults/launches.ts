import type { Caller } from './caller.ts';
import { openLaunch } from './open-launch.ts';
import { order, recordSample } from './orders.ts';
import { sendRequest } from './send-request.ts';
import type { System } from './system.ts';

/** One launch of the load. */
export type LaunchPlan = {
  /** The caller's identifier. */
  readonly launch: string;
  /** Whether its user orders a test and reads the order document. */
  readonly hasOrder: boolean;
  /** Whether the sample of that order is recorded in another launch. */
  readonly isAmended: boolean;
  /** Whether identifier and launch URL are used a second time, which must be refused. */
  readonly isRepeated: boolean;
  /** Resolves when its user opens the launch URL, and when to use it a second time. */
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

/** Gets the access token of all launches. @throws Error when there is none */
export async function fetchAccessToken({ call }: Caller): Promise<string> {
  const answer = await call({ step: 'token', launch: '', ...tokenRequest, expected: [200] });
  const { access_token: token } = JSON.parse(answer?.body ?? '{}');
  if (typeof token !== 'string') throw new Error('There is no access token');
  return token;
}

/** Has the identity provider issue a token, for nothing but what that leaves behind. */
export async function requestToken(system: System): Promise<void> {
  const [identityProvider] = system.replicasOf('identity-provider');
  const { path, body } = tokenRequest;
  await sendRequest({ url: `${identityProvider?.url}${path.replace('/idp', '')}`, body });
}

/** Plays a launch to its end. Resolves with whether an answer confirmed that its token was redeemed. */
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
