import { randomBytes, randomUUID } from 'node:crypto';
import { type Exchange, endpointOf, type ProxiedAnswer, tokenIn } from './exchange.ts';
import { retryAfterSeconds } from './faults.ts';
import { forgeLogoutToken, withMembers, withWrongSignature } from './id-tokens.ts';
import { answered, waited } from './judges.ts';
import {
  codeOf,
  flowsIn,
  isGranted,
  isRead,
  isRefresh,
  redirectOf,
  sentCodeOf,
  tokenOf,
} from './partner-flow.ts';
import {
  fresh,
  isLogout,
  isRepeat,
  judgeAddresses,
  judgeCodeUse,
  judgeLaunchUse,
  judgeLogout,
  judgeNewKey,
  judgeRefreshes,
  judgeUnauthorized,
  refusesCode,
  refusesTokens,
} from './partner-judges.ts';
import type { Protocol, Step, StepTools } from './requirement.ts';

const authHandler = 'partner.md#5-the-auth-handler-and-the-token-request';
const idTokens = 'partner.md#6-user-organisation-and-patient';
const refusals = 'partner.md#when-something-is-refused';
const logout = 'partner.md#when-a-launch-is-revoked';

type Alteration = { readonly answer: ProxiedAnswer; readonly probe: string };

const isOpened = (during: readonly Exchange[]) =>
  flowsIn(during).some((flow) => flow.some((one) => isRead(one) && isGranted(one)));

/** Creates a step that begins with a launch. It is done when the client has read a resource of this launch. */
const launchStep = (step: Pick<Step, 'id' | 'instruction'> & Partial<Step>): Step => ({
  action: 'launch',
  begin: ({ createLaunch }) => createLaunch(),
  isDone: isOpened,
  ...step,
});

/** Creates the step in which a parameter of the redirect to the client is changed. */
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

/** Creates the step in which the token answer to a code of this step is changed. */
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
      const idToken = tokenOf(exchange, 'id_token');
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

/** Sends a forged logout token for the newest session of the client, and then ends the launch. */
async function endSession({ send, endLaunch, now }: StepTools, exchanges: readonly Exchange[]) {
  const idToken = exchanges.map((one) => tokenOf(one, 'id_token')).findLast((one) => one !== undefined);
  if (idToken !== undefined) {
    const form = new URLSearchParams({ logout_token: await forgeLogoutToken(idToken, now()) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await send({ probe: 'forged-logout', headers, body: form.toString() });
  }
  await endLaunch();
  return undefined;
}

/** The steps and requirements of a partner application (docs/guides/partner.md). */
export const partnerProtocol: Protocol = {
  name: 'partner',
  sharedEndpoints: ['keys'],
  steps: [
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
    redirectStep('state', randomUUID),
    redirectStep('iss', () => 'https://other-issuer.example'),
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
  ],
  requirements: [
    {
      id: 'partner.state-fresh',
      title: 'The partner sends a new state with each authorization request',
      guide: 'partner.md#4-the-authorization-request',
      judge: fresh('state', (parameters) =>
        parameters.get('state') ? undefined : 'An authorization request has no state',
      ),
    },
    {
      id: 'partner.challenge-fresh',
      title: 'The partner sends a new S256 challenge of 43 characters with each authorization request',
      guide: 'partner.md#4-the-authorization-request',
      judge: fresh('code_challenge', (parameters) =>
        /^[\w-]{43}$/.test(parameters.get('code_challenge') ?? '') &&
        parameters.get('code_challenge_method') === 'S256'
          ? undefined
          : 'An authorization request has no S256 challenge of 43 characters',
      ),
    },
    {
      id: 'partner.launch-once',
      title: 'The partner uses a launch identifier for one code',
      guide: 'partner.md#3-the-launch-handler',
      judge: judgeLaunchUse,
    },
    {
      id: 'partner.state-checked',
      title: 'The partner refuses a redirect with another state',
      guide: authHandler,
      judge: refusesCode('state', 'The code of a redirect with another state was sent'),
    },
    {
      id: 'partner.issuer-checked',
      title: 'The partner refuses a redirect with another iss',
      guide: authHandler,
      judge: refusesCode('iss', 'The code of a redirect with another iss was sent'),
    },
    {
      id: 'partner.code-once',
      title: 'After invalid_grant, the partner does not send the code again',
      guide: authHandler,
      judge: judgeCodeUse,
    },
    {
      id: 'partner.new-key',
      title: 'The partner fetches the keys again to verify an ID token with a new key',
      guide: idTokens,
      judge: judgeNewKey('new-key'),
    },
    {
      id: 'partner.signature-checked',
      title: 'The partner refuses an ID token with a wrong signature',
      guide: idTokens,
      judge: refusesTokens('wrong-signature', 'Tokens of an ID token with a wrong signature were used'),
    },
    {
      id: 'partner.token-hash-checked',
      title: 'The partner refuses an access token that at_hash does not match',
      guide: idTokens,
      judge: refusesTokens('wrong-hash', 'An access token that at_hash does not match was used'),
    },
    {
      id: 'partner.refresh-rotated',
      title: 'The partner sends the newest refresh token of a launch, and each only once',
      guide: 'partner.md#8-refresh',
      judge: judgeRefreshes,
    },
    {
      id: 'partner.refused-401',
      title: 'After 401, the partner refreshes its tokens once',
      guide: refusals,
      judge: judgeUnauthorized,
    },
    {
      id: 'partner.limited-429',
      title: 'After 429, the partner waits for the seconds in Retry-After',
      guide: refusals,
      judge: waited('429', isRead),
    },
    {
      id: 'partner.unavailable-503',
      title: 'After 503, the partner waits for the seconds in Retry-After',
      guide: refusals,
      judge: waited('503', isRead),
    },
    {
      id: 'partner.logout-forged',
      title: 'The partner refuses a logout token with a wrong signature',
      guide: logout,
      needs: 'logout',
      judge: answered(
        'forged-logout',
        (status) => status >= 400 && status < 500,
        'A forged logout token was not refused',
      ),
    },
    {
      id: 'partner.logout-honoured',
      title: 'The partner ends the session of a logout token, and does not use its tokens',
      guide: logout,
      needs: 'logout',
      judge: judgeLogout,
    },
    {
      id: 'partner.private-addresses',
      title: 'No address and no Referer contains a token, a code verifier or patient data',
      guide: 'partner.md#7-the-resource-api',
      judge: judgeAddresses,
    },
    {
      id: 'partner.errors-shown',
      title: 'The partner shows users a refused launch, and the reference of the error',
      guide: refusals,
    },
    {
      id: 'partner.tokens-private',
      title: 'The tokens of the partner are in no log, and in no browser if it has a backend',
      guide: 'partner.md#7-the-resource-api',
    },
  ],
};
