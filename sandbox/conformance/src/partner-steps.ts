import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Exchange, endpointOf, type ProxiedAnswer, tokenIn } from './exchange.ts';
import { retryAfterSeconds } from './faults.ts';
import { forgeLogoutToken, withMembers, withWrongSignature } from './id-tokens.ts';
import {
  codeOf,
  flowsIn,
  idTokenOf,
  isGranted,
  isRead,
  isRefresh,
  redirectOf,
  sentCodeOf,
  sentLaunchOf,
  tokenOf,
} from './partner-flow.ts';
import { isLogout, isRepeat } from './partner-judges.ts';
import type { Step, StepTools } from './requirement.ts';

type Alteration = { readonly answer: ProxiedAnswer; readonly probe: string };

const isOpened = (during: readonly Exchange[]) =>
  flowsIn(during).some((flow) => flow.some((one) => isRead(one) && isGranted(one)));

/**
 * Creates a step that begins with a launch. By default, the step is done when the client has read a resource
 * of this launch.
 */
const launchStep = (step: Pick<Step, 'id' | 'instruction'> & Partial<Step>): Step => ({
  action: 'launch',
  begin: ({ createLaunch }) => createLaunch(),
  isDone: isOpened,
  ...step,
});

const redirectStep = (parameter: 'state' | 'iss', value: () => string): Step =>
  launchStep({
    id: `altered-${parameter}`,
    instruction: `Open the launch URL. The run alters ${parameter} in the redirect, so refuse it.`,
    async alter(exchange) {
      const address = redirectOf(exchange);
      if (codeOf(exchange) === undefined || address === undefined) return undefined;
      address.searchParams.set(parameter, value());
      const headers = { ...exchange.answer.headers, location: address.href };
      return { answer: { ...exchange.answer, headers }, probe: parameter };
    },
    isDone: (during) => during.some(({ probe }) => probe === parameter),
  });

const tokensStep = (
  probe: string,
  step: Pick<Step, 'instruction'> & Partial<Step>,
  change: (
    answer: ProxiedAnswer,
    idToken: string,
    tools: StepTools & { readonly isFirst: boolean },
  ) => Promise<ProxiedAnswer> | ProxiedAnswer,
): Step =>
  launchStep({
    id: probe,
    async alter(exchange, during, tools): Promise<Alteration | undefined> {
      const idToken = idTokenOf(exchange);
      const sent = sentCodeOf(exchange);
      const isOwn = sent !== undefined && during.some((one) => codeOf(one) === sent);
      if (!isOwn || idToken === undefined || !isGranted(exchange)) return undefined;
      const isFirst = !during.some((one) => one.probe === probe);
      return { answer: await change(exchange.answer, idToken, { ...tools, isFirst }), probe };
    },
    isDone: (during) => during.some((one) => one.probe === probe),
    ...step,
  });

/** Returns true if a request reads a resource with a token of a launch of the current step. */
function isReadOfStep(request: Exchange['request'], during: readonly Exchange[]): boolean {
  const token = tokenIn(request);
  if (token === undefined || endpointOf(request) !== 'resource') return false;
  return flowsIn(during).some((flow) => flow.some((one) => tokenOf(one, 'access_token') === token));
}

/** Creates the step in which the first read is answered with a fault that asks the client to wait. */
const limitStep = (fault: '429' | '503'): Step =>
  launchStep({
    id: `refused-${fault}`,
    instruction: `Open the launch URL. The first read is answered ${fault}. Read again after Retry-After.`,
    faultFor: (request, during) =>
      isReadOfStep(request, during) && during.every((one) => one.fault === undefined) ? fault : undefined,
    pauseSeconds: retryAfterSeconds,
  });

/** The seconds after which a client that limits its requests for keys requests them again. */
const keyCooldownSeconds = 60;

const logoutPollMs = 200;
const maxLogoutPolls = 150;

/**
 * Sends a forged logout token for the newest session of the client, and ends the launch. Resolves when the
 * platform has sent its logout token, or after half a minute.
 */
async function endSession({ send, endLaunch, now }: StepTools, exchanges: readonly Exchange[]) {
  const idToken = exchanges.map(idTokenOf).findLast((one) => one !== undefined);
  if (idToken !== undefined) {
    const form = new URLSearchParams({ logout_token: await forgeLogoutToken(idToken, now()) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await send({ probe: 'forged-logout', headers, body: form.toString() });
  }
  const countSent = () => exchanges.filter(isLogout).length;
  const before = countSent();
  await endLaunch();
  for (let polls = 0; polls < maxLogoutPolls && countSent() === before; polls += 1) await pause(logoutPollMs);
  return undefined;
}

const otherIssuer = 'https://other-issuer.example';

export const partnerSteps: readonly Step[] = [
  launchStep({
    id: 'launch',
    instruction: 'Open the launch URL, so that the application reads the user or the patient.',
  }),
  launchStep({
    id: 'refresh',
    instruction: 'Open the launch URL. Then refresh the tokens twice, and read the patient after each.',
    isDone: (during) =>
      flowsIn(during).some((flow) => {
        const refreshes = flow.filter((one) => isRefresh(one) && isGranted(one));
        const last = flow.findLastIndex(isRefresh);
        return refreshes.length > 1 && flow.slice(last).some((one) => isRead(one) && isGranted(one));
      }),
  }),
  launchStep({
    id: 'launch-issuer',
    instruction:
      'Open the launch URL. Your application must refuse it, because its iss is another issuer. Then skip this step.',
    async begin({ createLaunch, give }) {
      const address = new URL(await createLaunch());
      address.searchParams.set('iss', otherIssuer);
      give('launch-issuer', address);
      return address.href;
    },
    isDone: (during) => during.some((one) => sentLaunchOf(one) !== undefined),
  }),
  redirectStep('state', randomUUID),
  redirectStep('iss', () => otherIssuer),
  tokensStep(
    'invalid-grant',
    { instruction: 'Open the launch URL. The token request is answered invalid_grant.' },
    (answer) => ({
      ...withMembers(
        { ...answer, body: Buffer.alloc(0) },
        {
          error: 'invalid_grant',
          error_description: 'This error was requested for a test',
          correlation_id: answer.headers['x-correlation-id'],
        },
      ),
      status: 400,
    }),
  ),
  launchStep({
    id: 'refused-401',
    instruction: 'Open the launch URL. Each read is answered 401, also after a refresh.',
    faultFor: (request, during) => (isReadOfStep(request, during) ? '401' : undefined),
    isDone(during) {
      const [first, ...others] = during.filter((one) => isRead(one) && one.fault === '401');
      return (
        first !== undefined &&
        others.some((one) => tokenIn(one.request) !== tokenIn(first.request) || isRepeat(one, first))
      );
    },
  }),
  limitStep('429'),
  limitStep('503'),
  tokensStep(
    'new-key',
    {
      instruction:
        'Open the launch URL. The ID token has a new key. If it is refused, launch again in a minute.',
      pauseSeconds: keyCooldownSeconds,
      isDone: isOpened,
    },
    async (answer, idToken, { keys, isFirst }) =>
      withMembers(answer, { id_token: await keys.sign(idToken, { isNewKey: isFirst }) }),
  ),
  tokensStep(
    'wrong-signature',
    { instruction: 'Open the launch URL. The signature of the ID token is wrong, so refuse it.' },
    (answer, idToken) => withMembers(answer, { id_token: withWrongSignature(idToken) }),
  ),
  tokensStep(
    'wrong-hash',
    { instruction: 'Open the launch URL. at_hash of the ID token is wrong, so refuse the tokens.' },
    async (answer, idToken, { keys }) => {
      const claims = { at_hash: randomBytes(16).toString('base64url') };
      return withMembers(answer, { id_token: await keys.sign(idToken, { claims }) });
    },
  ),
  launchStep({
    id: 'session',
    needs: 'logout',
    instruction: 'Open the launch URL, and keep the session open.',
  }),
  {
    id: 'logout',
    action: 'wait',
    needs: 'logout',
    instruction: 'Wait. Your logout address receives a forged logout token, and then a valid one.',
    begin: endSession,
    isDone: (during) => during.some(isLogout),
  },
  launchStep({
    id: 'last-launch',
    instruction: 'Try to read the patient in the sessions of earlier launches. Then open the launch URL.',
  }),
];
