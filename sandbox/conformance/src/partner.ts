import { answered, waited } from './judges.ts';
import { isRead } from './partner-flow.ts';
import {
  judgeAddresses,
  judgeCodeUse,
  judgeLaunchIssuer,
  judgeLaunchUse,
  judgeLogout,
  judgeNewKey,
  judgeNewValues,
  judgeRefreshes,
  judgeUnauthorized,
  refusesCode,
  refusesTokens,
} from './partner-judges.ts';
import { partnerSteps } from './partner-steps.ts';
import type { Protocol } from './requirement.ts';

const authHandler = 'partner.md#5-the-auth-handler-and-the-token-request';
const idTokens = 'partner.md#6-user-organisation-and-patient';
const refusals = 'partner.md#when-something-is-refused';
const logout = 'partner.md#when-a-launch-is-revoked';

/** The steps and requirements of a partner application (docs/guides/partner.md). */
export const partnerProtocol: Protocol = {
  name: 'partner',
  sharedEndpoints: ['keys'],
  steps: partnerSteps,
  requirements: [
    {
      id: 'partner.state-fresh',
      title: 'The partner sends a new state with each authorization request',
      guide: 'partner.md#4-the-authorization-request',
      judge: judgeNewValues('state', (parameters) =>
        parameters.get('state') ? undefined : 'An authorization request has no state',
      ),
    },
    {
      id: 'partner.challenge-fresh',
      title: 'The partner sends a new S256 challenge of 43 characters with each authorization request',
      guide: 'partner.md#4-the-authorization-request',
      judge: judgeNewValues('code_challenge', (parameters) =>
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
      id: 'partner.launch-issuer-checked',
      title: 'The partner refuses a launch URL with another iss',
      guide: 'partner.md#3-the-launch-handler',
      judge: judgeLaunchIssuer,
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
