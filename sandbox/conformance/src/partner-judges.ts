import { claimsOf, type Exchange, membersOf, parametersOf, tokenIn } from './exchange.ts';
import { entriesOf, isAccepted, privateAddresses, shownStatus, textOf, textsIn } from './judges.ts';
import {
  authorizationsIn,
  codeOf,
  type Flow,
  flowsIn,
  idTokenOf,
  isGranted,
  isKeyRequest,
  isRead,
  isRefresh,
  sentCodeOf,
  sentLaunchOf,
  tokenOf,
} from './partner-flow.ts';
import { failed, type Judge, type Judgement, passed, waiting } from './requirement.ts';

/**
 * Requires at least two authorization requests, with a different value of the parameter in each. `faultOf`
 * returns what is wrong with the parameters of a request.
 */
export function judgeNewValues(
  name: 'state' | 'code_challenge',
  faultOf: (parameters: URLSearchParams) => string | undefined,
): Judge {
  return (exchanges) => {
    const requests = authorizationsIn(exchanges).map(({ parameters }) => parameters);
    const fault = requests.map(faultOf).find((one) => one !== undefined);
    if (fault !== undefined) return failed(fault);
    const values = requests.map((parameters) => parameters.get(name));
    if (new Set(values).size < values.length) return failed(`Two launches have the same ${name}`);
    return values.length > 1 ? passed : waiting;
  };
}

/** Requires that no launch identifier is sent again after its code was issued. */
export function judgeLaunchUse(exchanges: readonly Exchange[]): Judgement {
  const authorizations = authorizationsIn(exchanges);
  const issuedAt = new Map(
    authorizations
      .toReversed()
      .map(({ exchange, parameters }) => [parameters.get('launch'), exchanges.indexOf(exchange)]),
  );
  const isSentAgain = exchanges.some(
    (one, at) => at > (issuedAt.get(sentLaunchOf(one) ?? '') ?? Number.POSITIVE_INFINITY),
  );
  if (isSentAgain) return failed('A launch identifier was sent again after its code was issued');
  return authorizations.length > 0 ? passed : waiting;
}

const hasLaunched = (later: readonly Exchange[]) => later.some((one) => codeOf(one) !== undefined);

/**
 * Judges each exchange that `selects` selects, together with all later exchanges. Passes only after the
 * client has begun another launch, because a client with the fault would have shown it by then.
 */
function following(
  selects: (exchange: Exchange) => boolean,
  faultOf: (exchange: Exchange, later: readonly Exchange[]) => string | undefined,
): Judge {
  return (exchanges) => {
    const judged = exchanges.flatMap((exchange, index) => {
      if (!selects(exchange)) return [];
      const later = exchanges.slice(index + 1);
      return [{ fault: faultOf(exchange, later), isOver: hasLaunched(later) }];
    });
    const fault = judged.map((one) => one.fault).find((one) => one !== undefined);
    if (fault !== undefined) return failed(fault);
    return judged.some(({ isOver }) => isOver) ? passed : waiting;
  };
}

/** Requires that the client does not send the code of an authorization answer that a run changed. */
export const refusesCode = (probe: string, finding: string): Judge =>
  following(
    (one) => one.probe === probe,
    (changed, later) => (later.some((one) => sentCodeOf(one) === codeOf(changed)) ? finding : undefined),
  );

/** Requires that the client does not send the launch identifier of a launch URL with another issuer. */
export const judgeLaunchIssuer: Judge = following(
  (one) => one.probe === 'launch-issuer',
  ({ request }, later) =>
    later.some((one) => sentLaunchOf(one) === request.url.searchParams.get('launch'))
      ? 'The client sent the launch identifier of a launch URL with another iss'
      : undefined,
);

/** Requires that the client does not use the tokens of a token answer that a run changed. */
export const refusesTokens = (probe: string, finding: string): Judge =>
  following(
    (one) => one.probe === probe,
    (changed, later) => (later.some((one) => usesTokens(one, changed)) ? finding : undefined),
  );

const usesTokens = (exchange: Exchange, issuing: Exchange) =>
  (isRead(exchange) && tokenIn(exchange.request) === tokenOf(issuing, 'access_token')) ||
  (isRefresh(exchange) && sentRefreshTokenOf(exchange) === tokenOf(issuing, 'refresh_token'));

const sentRefreshTokenOf = ({ request }: Exchange) => parametersOf(request).get('refresh_token');

/** Requires that no code is sent again after `invalid_grant`. */
export const judgeCodeUse: Judge = following(
  (one) => sentCodeOf(one) !== undefined && membersOf(one.answer.body)['error'] === 'invalid_grant',
  (refused, later) =>
    later.some((one) => sentCodeOf(one) === sentCodeOf(refused))
      ? 'A code was sent again after invalid_grant'
      : undefined,
);

/**
 * Requires that the client fetches the keys after an ID token with a new key, and then uses the tokens. If
 * the client refuses the tokens, it may launch again.
 */
export const judgeNewKey =
  (probe: string): Judge =>
  (exchanges) => {
    const isChanged = (one: Exchange) => one.probe === probe;
    const first = exchanges.findIndex(isChanged);
    if (first === -1) return waiting;
    const later = exchanges.slice(first + 1);
    const used = later.findIndex((one) =>
      exchanges.filter(isChanged).some((issuing) => usesTokens(one, issuing)),
    );
    if (used !== -1)
      return later.slice(0, used).some(isKeyRequest)
        ? passed
        : failed('The tokens were used, although the key of the ID token was not fetched');
    return hasLaunched(later)
      ? failed('The tokens were not used, although the key of the ID token is published')
      : waiting;
  };

/** Requires at least two refreshes in a launch, none of which repeats a refresh token. */
export function judgeRefreshes(exchanges: readonly Exchange[]): Judgement {
  const chains = flowsIn(exchanges).map((flow) =>
    flow.filter((one) => isRefresh(one) && one.fault === undefined).map(sentRefreshTokenOf),
  );
  if (chains.some((sent) => new Set(sent).size < sent.length))
    return failed('A refresh token was sent again after it was used');
  return chains.some((sent) => sent.length > 1) ? passed : waiting;
}

/**
 * Requires one refresh after the first 401, and no second refresh if the new access token is answered 401
 * too.
 */
export function judgeUnauthorized(exchanges: readonly Exchange[]): Judgement {
  const isRefused = (one: Exchange) => one.fault === '401' && isRead(one);
  const flow: Flow = flowsIn(exchanges).find((one) => one.some(isRefused)) ?? [];
  const at = flow.findIndex(isRefused);
  const refused = flow[at];
  if (refused === undefined) return waiting;
  const later = flow.slice(at + 1);
  if (later.some((one) => isRepeat(one, refused)))
    return failed('The request was repeated after 401 with the same access token');
  const refreshes = later.filter(isRefresh).length;
  if (refreshes > 1) return failed('The tokens were refreshed more than once after 401');
  return refreshes === 1 && later.some(isRefused) ? passed : waiting;
}

/**
 * Returns true if a request repeats a refused request with the same access token, after the refusal was
 * answered.
 */
export const isRepeat = ({ request }: Exchange, refused: Exchange): boolean =>
  request.url.href === refused.request.url.href &&
  tokenIn(request) === tokenIn(refused.request) &&
  request.at >= refused.answeredAt;

/**
 * Requires that the client accepts a logout token, and does not use the tokens of the ended launch
 * afterwards.
 */
export function judgeLogout(exchanges: readonly Exchange[]): Judgement {
  const at = exchanges.findLastIndex(isLogout);
  const sent = exchanges[at];
  if (sent === undefined) return waiting;
  if (!isAccepted(sent.answer.status))
    return failed(`A logout token was not accepted (answer: ${shownStatus(sent.answer.status)})`);
  const { sid } = claimsOf(parametersOf(sent.request).get('logout_token'));
  const later = exchanges.slice(at + 1).filter(({ request }) => request.at >= sent.answeredAt);
  if (later.some((one) => one.launchId === sid && (isRead(one) || isRefresh(one))))
    return failed('Tokens of a launch were used after its logout token');
  return hasLaunched(later) ? passed : waiting;
}

/** Returns true for a logout token that the platform sent, not the run. */
export const isLogout = ({ direction, probe, request }: Exchange): boolean =>
  direction === 'sent' && probe === undefined && parametersOf(request).has('logout_token');

/** Requires that no address and no Referer contains a token, a code verifier or patient data. */
export const judgeAddresses: Judge = privateAddresses({
  patient: (exchanges) => exchanges.flatMap(patientValues),
  secrets: (exchanges) => exchanges.flatMap(secretsOf),
  isShown: (one) => isRead(one) && isGranted(one),
});

function patientValues(exchange: Exchange): readonly string[] {
  const { authorizationDetails } = claimsOf(idTokenOf(exchange));
  const { patients } = membersOf(`{"patients":${textOf(authorizationDetails)}}`);
  return entriesOf(patients).flatMap(({ surname, forenames, dob, 'patient-identifiers': identifiers }) =>
    textsIn([surname, forenames, dob, ...entriesOf(identifiers).map((one) => one['identifierValue'])]),
  );
}

const secretsOf = (exchange: Exchange): readonly string[] =>
  sentCodeOf(exchange) === undefined && !isRefresh(exchange)
    ? []
    : [
        tokenOf(exchange, 'access_token'),
        tokenOf(exchange, 'refresh_token'),
        idTokenOf(exchange),
        parametersOf(exchange.request).get('code_verifier'),
      ].flatMap((secret) => secret || []);
