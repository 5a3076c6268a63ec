import { createHash } from 'node:crypto';
import {
  type Exchange,
  endpointOf,
  type FaultName,
  membersOf,
  type ProxiedRequest,
  parametersOf,
  tokenIn,
} from './exchange.ts';
import { entriesOf, privateAddresses, textOf, textsIn } from './judges.ts';
import { failed, type Judge, type Judgement, passed, waiting } from './requirement.ts';

type Requested = Pick<Exchange, 'request'>;

/** Returns true for a request for a launch URL. */
export const isLaunchUrl = (exchange: Requested) => endpointOf(exchange.request) === 'launch-url';
const isToken = (exchange: Requested) => endpointOf(exchange.request) === 'token';
const isOpening = (exchange: Requested) => endpointOf(exchange.request) === 'open';
/** Returns true if a launch URL was opened, and the platform accepted it. */
export const isOpened = (exchange: Exchange) => exchange.answer.status === 200 && isOpening(exchange);
const isIssued = (exchange: Exchange) => isLaunchUrl(exchange) && exchange.answer.status === 200;

/** Returns the code challenge of a request, or an empty text without one. */
export const challengeOf = ({ headers }: ProxiedRequest) => String(headers['code-challenge'] ?? '');
/** Returns the SHA-256 of a text in Base64URL (RFC 7636 section 4.2). */
export const base64UrlHash = (text: string) => createHash('sha256').update(text).digest('base64url');
/** Returns the launch URL that an exchange issued. */
export const launchUrlOf = ({ answer }: Exchange) => textOf(membersOf(answer.body)['url']);
const launchTokenOf = ({ request }: Requested) => parametersOf(request).get('launchToken');

const identifierOf = ({ body }: ProxiedRequest) =>
  textOf(entriesOf(membersOf(body)['identifier'])[0]?.['value']);
const actionOf = ({ body }: ProxiedRequest) =>
  entriesOf(membersOf(body)['extension']).find(({ url }) => textOf(url).endsWith('/extension/action'))?.[
    'valueString'
  ];

/** Returns true if a launch URL was issued for UpdateTest. */
export const isAmendment = (exchange: Exchange) =>
  isIssued(exchange) && actionOf(exchange.request) === 'UpdateTest';

/** Returns true if both requests are for the same order of the practice management system. */
export const isRepeat = (one: Requested, other: Requested) =>
  identifierOf(one.request) === identifierOf(other.request);

/** Judges every request for a launch URL by a function that returns what is wrong. */
export function judgeEveryLaunch(faultOf: (exchange: Exchange) => string | undefined): Judge {
  return (exchanges) => {
    const launches = exchanges.filter(isLaunchUrl);
    const fault = launches.map(faultOf).find((one) => one !== undefined);
    if (fault !== undefined) return failed(fault);
    return launches.length > 0 ? passed : waiting;
  };
}

/** Judges every opened launch URL together with the request that issued it. */
export function judgeEveryOpening(
  faultOf: (opening: Exchange, issuing: Exchange) => string | undefined,
): Judge {
  return (exchanges) => {
    const issued = new Map(
      exchanges
        .filter(isIssued)
        .map((one) => [URL.parse(launchUrlOf(one))?.searchParams.get('launchToken'), one]),
    );
    const openings = exchanges.filter(isOpening).flatMap((opening) => {
      const issuing = issued.get(launchTokenOf(opening));
      return issuing === undefined ? [] : [{ opening, issuing }];
    });
    const fault = openings
      .map(({ opening, issuing }) => faultOf(opening, issuing))
      .find((one) => one !== undefined);
    if (fault !== undefined) return failed(fault);
    return openings.length > 0 ? passed : waiting;
  };
}

/** Requires different values in all requests that were answered with a launch URL, at least two. */
export function distinct(valueOf: (request: ProxiedRequest) => string, finding: string): Judge {
  return (exchanges) => {
    const values = exchanges.filter(isIssued).map(({ request }) => valueOf(request));
    if (new Set(values).size < values.length) return failed(finding);
    return values.length > 1 ? passed : waiting;
  };
}

/**
 * Requires that no OrderTest repeats an identifier. A 409 that is not a requested fault also fails, because
 * the platform answers 409 to a repeated identifier.
 */
export function judgeNewIdentifiers(exchanges: readonly Exchange[]): Judgement {
  const orders = exchanges.filter((one) => isLaunchUrl(one) && actionOf(one.request) === 'OrderTest');
  const isReused = orders.some((one) => one.fault === undefined && one.answer.status === 409);
  if (isReused) return failed('An OrderTest repeats the identifier of an earlier request');
  return distinct(identifierOf, 'Two launches with OrderTest have the same identifier')(orders);
}

/** Requires that each UpdateTest repeats the identifier of an earlier OrderTest. */
export function judgeAmendments(exchanges: readonly Exchange[]): Judgement {
  const ordered = new Set<string>();
  for (const one of exchanges.filter(isIssued)) {
    const identifier = identifierOf(one.request);
    if (actionOf(one.request) === 'OrderTest') ordered.add(identifier);
    if (isAmendment(one) && !ordered.has(identifier))
      return failed('UpdateTest has an identifier that no earlier OrderTest has');
  }
  return exchanges.some(isAmendment) ? passed : waiting;
}

/** The seconds before the expiry in which a client may already request a new token. */
const renewalSeconds = 300;

/** Requires that the client requests no new access token until shortly before its last token expires. */
export function judgeTokens(exchanges: readonly Exchange[]): Judgement {
  let expiresAt = 0;
  for (const exchange of exchanges) {
    if (tokenIn(exchange.request) !== undefined && exchange.answer.status === 401) expiresAt = 0;
    if (!isToken(exchange) || exchange.answer.status !== 200) continue;
    if (exchange.request.at < expiresAt - renewalSeconds * 1000)
      return failed('A new access token was requested although the last token was still valid');
    expiresAt = exchange.answeredAt + Number(membersOf(exchange.answer.body)['expires_in']) * 1000;
  }
  const used = exchanges.filter(isIssued).map(({ request }) => request.headers.authorization);
  return new Set(used).size < used.length ? passed : waiting;
}

/**
 * Requires that the client repeats a request that was refused with `fault` at most `maxRepeats` times. Passes
 * when the client launches another request.
 */
export function repeated(fault: FaultName, maxRepeats: number): Judge {
  return (exchanges) => {
    const at = exchanges.findIndex((one) => one.fault === fault && isLaunchUrl(one));
    const refused = exchanges[at];
    if (refused === undefined) return waiting;
    const later = exchanges.slice(at + 1).filter(isLaunchUrl);
    const repeats = later.filter((one) => isRepeat(refused, one)).length;
    if (repeats > maxRepeats) return failed(`The request was repeated after ${fault}`);
    return later.length > repeats ? passed : waiting;
  };
}

/**
 * Requires that a launch URL is not opened again after 410, and that the client requests a new launch URL.
 */
export function judgeGone(exchanges: readonly Exchange[]): Judgement {
  const at = exchanges.findIndex((one) => one.fault === '410' && isOpening(one));
  const refused = exchanges[at];
  if (refused === undefined) return waiting;
  const later = exchanges.slice(at + 1);
  if (later.some((one) => isOpening(one) && launchTokenOf(one) === launchTokenOf(refused)))
    return failed('The launch URL was opened again after 410');
  return later.some(isLaunchUrl) ? passed : waiting;
}

/** Requires that no address and no Referer contains a secret or patient data. */
export const judgeAddresses: Judge = privateAddresses({
  patient: (exchanges) => exchanges.filter(isLaunchUrl).flatMap(({ request }) => patientValues(request)),
  secrets: (exchanges) => exchanges.flatMap(secretsIn),
  refererNames: ['launchToken'],
  isShown: isOpening,
});

/** Returns the client secret and the access token in a token request and its answer. */
function secretsIn(exchange: Exchange): readonly string[] {
  if (!isToken(exchange)) return [];
  const { access_token: token } = membersOf(exchange.answer.body);
  return [
    ...textsIn(token),
    ...textsIn(new URLSearchParams(exchange.request.body).get('client_secret')),
    ...textsIn(basicSecretIn(exchange.request)),
  ];
}

/** Returns the client secret in Basic credentials, still percent-encoded (RFC 6749 section 2.3.1). */
function basicSecretIn({ headers }: ProxiedRequest): string | undefined {
  const [, encoded] = /^Basic +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, 'base64').toString();
  return credentials.slice(credentials.indexOf(':') + 1);
}

const patientValues = ({ body }: ProxiedRequest): readonly string[] =>
  entriesOf(membersOf(body)['contained'])
    .filter(({ resourceType }) => resourceType === 'Patient')
    .flatMap(({ name, birthDate, identifier }) => [
      birthDate,
      ...entriesOf(name).flatMap(({ family, given }) => [family, given]),
      ...entriesOf(identifier).map(({ value }) => value),
    ])
    .flatMap(textsIn);
