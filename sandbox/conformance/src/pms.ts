import { type Exchange, endpointOf, type FaultName, parametersOf } from './exchange.ts';
import { retryAfterSeconds } from './faults.ts';
import { after, waited } from './judges.ts';
import { judgeCallbacks, sendCallbacks } from './pms-callbacks.ts';
import {
  base64UrlHash,
  challengeOf,
  distinct,
  isAmendment,
  isLaunchUrl,
  isOpened,
  isRepeat,
  judgeAddresses,
  judgeAmendments,
  judgeEveryLaunch,
  judgeEveryOpening,
  judgeGone,
  judgeNewIdentifiers,
  judgeTokens,
  launchUrlOf,
  repeated,
} from './pms-judges.ts';
import type { Protocol, Step } from './requirement.ts';

const isRefused = ({ fault }: Exchange) => fault !== undefined;

/** Returns true if a launch URL was opened after a refusal. */
const isOpenedAfterRefusal = (during: readonly Exchange[]) =>
  during.some((one, index) => isOpened(one) && during.slice(0, index).some(isRefused));

/**
 * Creates the step in which a request for a launch URL is refused with a fault. The faults 403 and 500 also
 * refuse repeats of this request.
 */
function refusal(fault: FaultName, instruction: string): Step {
  const refusesRepeats = fault === '403' || fault === '500';
  return {
    id: `refused-${fault}`,
    action: 'launch',
    instruction,
    faultFor(request, during) {
      if (endpointOf(request) !== 'launch-url') return undefined;
      const refused = during.find(isRefused);
      return refused === undefined || (refusesRepeats && isRepeat(refused, { request })) ? fault : undefined;
    },
    isDone: isOpenedAfterRefusal,
  };
}

/** The steps and requirements of a practice management system (docs/guides/pms.md). */
export const pmsProtocol: Protocol = {
  name: 'pms',
  sharedEndpoints: [],
  steps: [
    {
      id: 'launch',
      action: 'launch',
      instruction: 'Launch a patient with OrderTest, and open the launch URL.',
      isDone: (during) => during.some(isOpened),
    },
    {
      id: 'second-launch',
      action: 'launch',
      instruction: 'Launch another request with OrderTest, and open the launch URL.',
      isDone: (during) => during.some(isOpened),
    },
    {
      id: 'amend',
      action: 'amend',
      instruction: 'Launch the first request again with UpdateTest, and open the launch URL.',
      isDone: (during) => during.some(isAmendment) && during.some(isOpened),
    },
    refusal('401', 'The next request for a launch URL is answered 401. If your launch fails, launch again.'),
    refusal('403', 'The next request for a launch URL is answered 403. Then launch another request.'),
    refusal('409', 'The next request for a launch URL is answered 409. Launch again with a new identifier.'),
    {
      id: 'refused-410',
      action: 'launch',
      instruction: 'The next launch URL is answered 410 when it is opened. Then launch again.',
      faultFor: (request, during) =>
        endpointOf(request) === 'open' && !during.some(isRefused) ? '410' : undefined,
      isDone: isOpenedAfterRefusal,
    },
    {
      ...refusal('429', 'The next request for a launch URL is answered 429. Launch again after Retry-After.'),
      pauseSeconds: retryAfterSeconds,
    },
    refusal('500', 'The next request for a launch URL is answered 500. Then launch another request.'),
    {
      ...refusal('503', 'The next request for a launch URL is answered 503. Launch again after Retry-After.'),
      pauseSeconds: retryAfterSeconds,
    },
    {
      id: 'callbacks',
      action: 'wait',
      needs: 'callback',
      instruction: 'Wait. Your callback address receives five callbacks. Three of them are valid.',
      begin: sendCallbacks,
      isDone: (during) => during.some(({ probe }) => probe === 'two-signatures'),
    },
  ],
  requirements: [
    {
      id: 'pms.token-reused',
      title: 'The client uses an access token for several launches until it expires',
      guide: 'pms.md#1-get-a-token',
      judge: judgeTokens,
    },
    {
      id: 'pms.challenge-form',
      title: 'The client sends the SHA-256 of the verifier as 43 characters of Base64URL',
      guide: 'pms.md#2-request-the-launch-url',
      judge: judgeEveryLaunch(({ request }) =>
        /^[\w-]{43}$/.test(challengeOf(request))
          ? undefined
          : 'Code-Challenge is missing or has another form',
      ),
    },
    {
      id: 'pms.challenge-fresh',
      title: 'The client creates a new code challenge for each launch',
      guide: 'pms.md#2-request-the-launch-url',
      judge: distinct(challengeOf, 'Two launches have the same Code-Challenge'),
    },
    {
      id: 'pms.identifier-new',
      title: 'The client sends a new identifier with each OrderTest',
      guide: 'pms.md#the-payload',
      judge: judgeNewIdentifiers,
    },
    {
      id: 'pms.identifier-kept',
      title: 'The client repeats the identifier of the request that it amends',
      guide: 'pms.md#the-eight-actions',
      judge: judgeAmendments,
    },
    {
      id: 'pms.verifier-appended',
      title: 'The client appends the verifier to the launch URL without any other change',
      guide: 'pms.md#3-open-the-launch-url',
      judge: judgeEveryOpening(({ request }, issuing) => {
        const verifier = parametersOf(request).get('codeVerifier');
        if (verifier === null || base64UrlHash(verifier) !== challengeOf(issuing.request))
          return 'codeVerifier is missing, or its SHA-256 is not the challenge';
        // If the browser posts both parameters as a form, the address contains neither of them.
        const isForm = !request.url.searchParams.has('launchToken');
        const expected = URL.parse(`${launchUrlOf(issuing)}&codeVerifier=${verifier}`)?.href;
        return isForm || request.url.href === expected
          ? undefined
          : 'The opened address is not the launch URL followed by &codeVerifier= and the verifier';
      }),
    },
    {
      id: 'pms.opened-in-time',
      title: 'The browser opens the launch URL within ten seconds',
      guide: 'pms.md#3-open-the-launch-url',
      judge: judgeEveryOpening(({ request }, issuing) =>
        request.at - issuing.answeredAt <= 10_000
          ? undefined
          : `The launch URL was opened after ${Math.round((request.at - issuing.answeredAt) / 1000)} seconds`,
      ),
    },
    {
      id: 'pms.refused-401',
      title: 'After 401, the client requests a new access token before it tries again',
      guide: 'pms.md#when-something-is-refused',
      judge: after('401', isLaunchUrl, (refused, next) =>
        next.request.headers.authorization === refused.request.headers.authorization
          ? 'The next request after 401 has the refused access token'
          : undefined,
      ),
    },
    {
      id: 'pms.refused-403',
      title: 'After 403, the client does not repeat the request',
      guide: 'pms.md#when-something-is-refused',
      judge: repeated('403', 0),
    },
    {
      id: 'pms.refused-409',
      title: 'After 409, the client sends a new identifier',
      guide: 'pms.md#when-something-is-refused',
      judge: repeated('409', 0),
    },
    {
      id: 'pms.refused-410',
      title: 'After 410, the client requests a new launch URL and does not open the old one again',
      guide: 'pms.md#4-the-user-orders',
      judge: judgeGone,
    },
    {
      id: 'pms.limited-429',
      title: 'After 429, the client waits for the seconds in Retry-After',
      guide: 'pms.md#when-something-is-refused',
      judge: waited('429', isLaunchUrl),
    },
    {
      id: 'pms.failed-500',
      title: 'After 500, the client repeats the request at most once',
      guide: 'pms.md#when-something-is-refused',
      judge: repeated('500', 1),
    },
    {
      id: 'pms.unavailable-503',
      title: 'After 503, the client waits for the seconds in Retry-After',
      guide: 'pms.md#when-something-is-refused',
      judge: waited('503', isLaunchUrl),
    },
    ...judgeCallbacks,
    {
      id: 'pms.private-addresses',
      title: 'No address and no Referer contains a token, a secret or patient data',
      guide: 'pms.md#1-get-a-token',
      judge: judgeAddresses,
    },
    {
      id: 'pms.secrets-stored',
      title: 'The client secret, the token and the callback secret are in a secret store, and in no log',
      guide: 'pms.md#before-you-go-live',
    },
    {
      id: 'pms.reference-shown',
      title: 'Users see the reference of a launch that failed',
      guide: 'pms.md#before-you-go-live',
    },
  ],
};
