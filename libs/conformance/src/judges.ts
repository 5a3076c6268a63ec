import { type Exchange, membersOf } from './exchange.ts';
import { type FaultName, retryAfterSeconds } from './faults.ts';
import { failed, type Judge, type Judgement, passed, waiting } from './requirement.ts';

type Concerns = (exchange: Exchange) => boolean;

/**
 * Judges what follows the first fault at one endpoint, until the client sends the next request to it. Ignores
 * requests that the client sent before it received the fault.
 */
export function after(
  fault: FaultName,
  concerns: Concerns,
  judge: (refused: Exchange, next: Exchange | undefined, between: readonly Exchange[]) => Judgement,
): Judge {
  return (exchanges) => {
    const at = exchanges.findIndex((one) => one.fault === fault && concerns(one));
    const refused = exchanges[at];
    if (refused === undefined) return waiting;
    const later = exchanges.slice(at + 1).filter(({ request }) => request.at >= refused.answeredAt);
    const next = later.findIndex(concerns);
    return judge(refused, later[next], next === -1 ? later : later.slice(0, next));
  };
}

/** The milliseconds by which clocks and networks may shorten a wait. */
const slackMs = 100;

/** Requires that the next request comes after the seconds in `Retry-After`. */
export const waited = (fault: FaultName, concerns: Concerns) =>
  after(fault, concerns, (refused, next) =>
    next === undefined
      ? waiting
      : next.request.at - refused.answeredAt >= retryAfterSeconds * 1000 - slackMs
        ? passed
        : failed(`The next request came before the ${retryAfterSeconds} seconds in Retry-After had passed`),
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

/** The parameters that must never be in an address, in any spelling. */
const secretNames = new Set([
  'access_token',
  'client_secret',
  'client_assertion',
  'code_verifier',
  'id_token',
  'refresh_token',
]);

/** What must not be in addresses: values of parameters that identify the patient, and secrets in any place. */
type Private = {
  readonly patient: (exchanges: readonly Exchange[]) => readonly string[];
  readonly secrets?: (exchanges: readonly Exchange[]) => readonly string[];
  /** The parameters that must not be in a Referer. */
  readonly refererNames?: readonly string[];
  readonly isShown: Concerns;
};

/** Requires that no address and no Referer of a received request contains a secret or patient data. */
export function privateAddresses({
  patient,
  secrets = () => [],
  refererNames = [],
  isShown,
}: Private): Judge {
  return (exchanges) => {
    const patientValues = new Set(patient(exchanges).map((value) => value.toLowerCase()));
    const secretValues = secrets(exchanges);
    for (const { direction, request } of exchanges) {
      if (direction === 'sent') continue;
      const referer = request.headers.referer ?? '';
      const [from] = URL.canParse(referer) ? [new URL(referer)] : [];
      for (const address of [request.url, ...(from === undefined ? [] : [from])]) {
        const parameters = [...address.searchParams];
        if (
          parameters.some(([name]) => secretNames.has(name)) ||
          secretValues.some((secret) => address.href.includes(secret))
        )
          return failed('An address contains a secret');
        if (parameters.some(([, value]) => patientValues.has(value.toLowerCase())))
          return failed('An address contains patient data');
      }
      if (refererNames.some((name) => from?.searchParams.has(name)))
        return failed('A Referer contains a launch token');
    }
    return exchanges.some(isShown) ? passed : waiting;
  };
}

/** Returns all texts of at least three characters in a JSON value. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length > 2 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** Returns a member of each element of a list. */
export const membersIn = (list: unknown, name: string): readonly unknown[] =>
  Array.isArray(list) ? list.map((one: unknown) => membersOf(JSON.stringify(one))[name]) : [];
