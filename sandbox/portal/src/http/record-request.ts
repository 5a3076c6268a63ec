import { type Exchange, endpointOf, membersOf } from '@clinical-launch/conformance/exchange';
import { pmsProtocol } from '@clinical-launch/conformance/pms';
import type { RecordedRequest } from '../store/recorded-requests.ts';

/** The headers whose values are stored: the platform sets them, or they have a small set of values. */
const shownHeaders = new Set([
  'accept',
  'allow',
  'cache-control',
  'code-challenge-method',
  'content-length',
  'content-type',
  'launch-refusal',
  'retry-after',
  'www-authenticate',
  'x-correlation-id',
]);
const knownParameters = new Set(['launchToken', 'codeVerifier', 'client_id', 'grant_type', 'scope']);

/** Returns the record of an exchange, without bodies. */
export function recordedRequestOf(exchange: Exchange): RecordedRequest {
  const { request, answer, answeredAt, fault } = exchange;
  const code = refusalCodeOf(exchange);
  return {
    id: String(answer.headers['x-correlation-id'] ?? ''),
    at: request.at,
    durationMs: answeredAt - request.at,
    method: /^[A-Z]{3,7}$/.test(request.method) ? request.method : 'other',
    path: pathOf(exchange),
    parameters: [...new Set(request.url.searchParams.keys())].filter((name) => knownParameters.has(name)),
    status: answer.status,
    sent: headersOf(request.headers),
    received: headersOf(answer.headers),
    findings: findingsOf(exchange),
    ...(fault === undefined ? {} : { fault }),
    ...(code === undefined ? {} : { code }),
  };
}

/**
 * Returns the path without launch identifiers and the ids of resources. Returns a fixed text for an unknown
 * path, which may contain secrets or patient data.
 */
const pathOf = ({ request, answer }: Exchange): string =>
  !isKnown(request) || answer.status === 404
    ? 'an unknown address'
    : request.url.pathname.replace(/\/(resource|launches|Patient|Practitioner|Organization)\/.*/, '/$1/*');

const isKnown = (request: Exchange['request']) =>
  endpointOf(request) !== 'other' || request.url.pathname === '/AccessApi/Validate';

const headersOf = (headers: object): RecordedRequest['sent'] =>
  Object.entries(headers)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({
      name,
      value: shownHeaders.has(name) ? String(value).slice(0, 300) : maskedValueOf(name, String(value)),
    }));

/** Masks the value of a header, except the scheme of an Authorization header. */
function maskedValueOf(name: string, value: string): string {
  const scheme = name === 'authorization' ? /^(?:Bearer|Basic|DPoP)(?= )/i.exec(value)?.[0] : undefined;
  return scheme === undefined ? '(not shown)' : `${scheme} (not shown)`;
}

function refusalCodeOf({ answer }: Exchange): string | undefined {
  if (answer.status < 400) return undefined;
  const code = answer.headers['launch-refusal'] ?? membersOf(answer.body)['error'];
  return typeof code === 'string' && /^[a-z_]{1,50}$/.test(code) ? code : undefined;
}

/**
 * Returns the faults of a request: the sentences of the answer, which never contain a value of the request,
 * and the findings of the requirements that this single request breaks.
 */
function findingsOf(exchange: Exchange): readonly string[] {
  const { answer } = exchange;
  const {
    title,
    error_description: description,
    errors,
  } = answer.status >= 400 ? membersOf(answer.body) : {};
  const faults = Array.isArray(errors) ? errors.map(({ path, message }) => `${path} ${message}`) : [];
  const broken = pmsProtocol.requirements.flatMap(({ judge }) => {
    const judgement = judge?.([exchange]);
    return judgement?.verdict === 'failed' ? judgement.finding : [];
  });
  return [title, description, ...faults, ...broken].filter((text) => typeof text === 'string');
}
