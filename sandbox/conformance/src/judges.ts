import querystring from 'node:querystring';
import { type Exchange, type FaultName, isMembers } from './exchange.ts';
import { retryAfterSeconds } from './faults.ts';
import { failed, type Judge, passed, waiting } from './requirement.ts';

type Concerns = (exchange: Exchange) => boolean;

/** The tolerance in milliseconds for measured waits, because clocks and networks are not exact. */
const slackMs = 100;

/**
 * Judges the next request after a fault with `faultOf`, which returns what is wrong. Considers only requests
 * that `concerns` selects. Ignores requests that the client sent before it received the fault. Also ignores
 * requests for another address within `slackMs` after the fault, because a client may send several requests
 * at once.
 */
export function after(
  fault: FaultName,
  concerns: Concerns,
  faultOf: (refused: Exchange, next: Exchange) => string | undefined,
): Judge {
  return (exchanges) => {
    const at = exchanges.findIndex((one) => one.fault === fault && concerns(one));
    const refused = exchanges[at];
    if (refused === undefined) return waiting;
    const isLater = ({ request }: Exchange) =>
      request.at - refused.answeredAt >= (request.url.href === refused.request.url.href ? 0 : slackMs);
    const next = exchanges.slice(at + 1).find((one) => concerns(one) && isLater(one));
    if (next === undefined) return waiting;
    const wrong = faultOf(refused, next);
    return wrong === undefined ? passed : failed(wrong);
  };
}

/** Requires that the next request comes after the seconds in `Retry-After`. */
export const waited = (fault: FaultName, concerns: Concerns) =>
  after(fault, concerns, (refused, next) =>
    next.request.at - refused.answeredAt >= retryAfterSeconds * 1000 - slackMs
      ? undefined
      : `The next request came before the ${retryAfterSeconds} seconds in Retry-After had passed`,
  );

/** Judges the answer of the client to one of the messages that a run sends. */
export const answered =
  (probe: string, isExpected: (status: number) => boolean, finding: string): Judge =>
  (exchanges) => {
    const sent = exchanges.find((one) => one.direction === 'sent' && one.probe === probe);
    if (sent === undefined) return waiting;
    return isExpected(sent.answer.status)
      ? passed
      : failed(`${finding} (answer: ${shownStatus(sent.answer.status)})`);
  };

export const isAccepted = (status: number) => status >= 200 && status < 300;

/** Returns a status as a text. The status is 0 if the client did not answer. */
export const shownStatus = (status: number): string => (status === 0 ? 'none' : String(status));

const secretNames = [
  'access_token',
  'client_secret',
  'client_assertion',
  'code_verifier',
  'id_token',
  'refresh_token',
] as const;

/** The words and secrets that must not be in addresses. */
type Private = {
  readonly patient: (exchanges: readonly Exchange[]) => readonly string[];
  readonly secrets: (exchanges: readonly Exchange[]) => readonly string[];
  /** The parameters that must not be in a Referer. */
  readonly refererNames?: readonly string[];
  readonly isShown: Concerns;
};

/** Requires that no address and no Referer of a received request contains a secret or patient data. */
export function privateAddresses({ patient, secrets, refererNames = [], isShown }: Private): Judge {
  return (exchanges) => {
    const patientWords = new Set(patient(exchanges).map((value) => value.toLowerCase()));
    const secretValues = secrets(exchanges);
    for (const { direction, request } of exchanges) {
      if (direction === 'sent') continue;
      const referer = URL.parse(request.headers.referer ?? '') ?? undefined;
      if (refererNames.some((name) => referer?.searchParams.has(name)))
        return failed('A Referer contains a launch token');
      for (const { href, searchParams } of [request.url, ...(referer === undefined ? [] : [referer])])
        if (
          secretNames.some((name) => searchParams.has(name)) ||
          secretValues.some((secret) => href.includes(secret))
        )
          return failed('An address contains a secret');
      // Does not check the paths of the platform. They contain no patient data, but may contain a word that
      // is also a name: a patient named Demo must not fail a client.
      const isForeign = referer !== undefined && referer.origin !== request.url.origin;
      const words = [...valuesIn(request.url), ...(isForeign ? partsOf(referer) : [])];
      if (words.some((word) => patientWords.has(word))) return failed('An address contains patient data');
    }
    return exchanges.some(isShown) ? passed : waiting;
  };
}

/** Returns the parameter values of an address and their words, in lower case. */
const valuesIn = ({ searchParams }: URL) => [...searchParams.values()].flatMap(wordsIn);

/** Returns the path segments and parameter values of an address and their words, in lower case. */
const partsOf = (address: URL) => [
  ...address.pathname.split('/').flatMap((segment) => wordsIn(querystring.unescape(segment))),
  ...valuesIn(address),
];

const wordsIn = (text: string) => [text, ...text.split(/[\s,;:+|]+/)].map((word) => word.toLowerCase());

/** Returns a value if it is a text, otherwise the empty string. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the objects in a list. Returns none if the value is no list. */
export const entriesOf = (value: unknown) => (Array.isArray(value) ? value.filter(isMembers) : []);

/** Returns the text, or the texts in a list, that have at least three characters. */
export const textsIn = (value: unknown): readonly string[] =>
  [value]
    .flat()
    .map(textOf)
    .filter(({ length }) => length > 2);
