import { createHash, randomBytes } from 'node:crypto';
import { membersOf } from '@clinical-launch/conformance/exchange';
import type { Fault } from '@clinical-launch/contracts/fault';
import { compileSchema, createParser } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { readForm } from '@clinical-launch/http/body';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import { ServiceError, temporarilyUnavailable, tooMany } from '@clinical-launch/http/errors';
import { problemSchema } from '@clinical-launch/http/openapi/error-schemas';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import { judgedPayload } from '../present/judged-payload.ts';
import type { Portal, Visit } from './portal.ts';

/** The maximum size of a payload in bytes, which is the limit of the launch API. */
const maxPayloadBytes = 262_144;

/**
 * Reads the payload in the form of a page. Browsers send each line break of a text area as CRLF, so CRLF is
 * replaced by LF. `isNew` is true if the payload shall have a new identifier.
 * @throws ServiceError 413 if the payload has more bytes than the launch API accepts
 */
export async function readPayload(
  visit: Visit,
): Promise<{ readonly payload: string; readonly isNew: boolean }> {
  // Percent-encoding can turn one byte into three.
  const form = await readForm(visit, 3 * maxPayloadBytes + 100);
  const payload = (form.get('payload') ?? '').replaceAll('\r\n', '\n');
  if (Buffer.byteLength(payload) <= maxPayloadBytes) return { payload, isNew: form.has('isNew') };
  throw new ServiceError({
    code: 'too_large',
    message: `The payload must have at most ${maxPayloadBytes} bytes`,
  });
}

const refusal = compileSchema(problemSchema);
const launchUrlOf = createParser(Type.Object({ url: Type.String() }), 'launch URL response');

/** The answer of the launch API to a payload. `openUrl` works only after RequestLaunchUrl without faults. */
type Answer = { readonly faults: readonly Fault[]; readonly openUrl: () => string };

/**
 * Sends a payload unchanged to the launch API, with the access token of the session and a code challenge
 * (RFC 7636 section 4.2). `openUrl` returns the launch URL with the code verifier (OLTR: Launch the
 * OLTR system).
 * @throws ServiceError 401 if the token has expired, 403, 409 or 429 if the launch API answers with this
 * status, or 503 after any other answer
 */
export async function sendPayload(
  portal: Portal,
  { session, sessionId }: Visit,
  {
    path,
    payload,
  }: { readonly path: '/AccessApi/Validate' | '/AccessApi/RequestLaunchUrl'; payload: string },
): Promise<Answer> {
  const verifier = randomBytes(64).toString('base64url');
  const { status, headers, body } = await portal.callPlatform(path, {
    authorization: `Bearer ${session.accessToken}`,
    body: payload,
    headers: { 'code-challenge': createHash('sha256').update(verifier).digest('base64url') },
  });
  const answer: unknown = [200, 400].includes(status) ? membersOf(body) : undefined;
  if (status === 200)
    return { faults: [], openUrl: () => `${launchUrlOf(answer).url}&codeVerifier=${verifier}` };
  if (refusal.is(answer) && answer.errors?.length) {
    return { faults: answer.errors, openUrl: () => '' };
  }
  // Ends the session, because the start page shows how to sign in only to developers without a session.
  if (status === 401) portal.sessions.end(sessionId);
  throw refusalOf(status, Number(headers['retry-after']) || 5);
}

function refusalOf(status: number, retryAfterSeconds: number): ServiceError {
  switch (status) {
    case 401:
      return new ServiceError({
        code: 'session_required',
        message: 'The access token of your session has expired or was revoked. Sign in again',
      });
    case 403:
      return new ServiceError({
        code: 'insufficient_scope',
        message: 'Your client may not request launches',
      });
    case 409:
      return new ServiceError({
        code: 'identifier_used',
        message: 'The identifier of the request was already used. Send a new identifier',
      });
    case 429:
      return tooMany(retryAfterSeconds * 1000, {
        message: `Your client sent too many requests. Wait ${retryAfterSeconds} seconds`,
      });
    default:
      return temporarilyUnavailable('The launch API is temporarily unavailable', {
        retryAfterSeconds,
        cause: new Error(`The launch API answered ${status}`),
      });
  }
}

const checksPerSecond = 5;

/**
 * Creates the page that shows the faults of a pasted payload at their lines. Does not store the payload, and
 * shows it only in the answer to the form, because a developer may paste the data of a patient. Answers 429 to
 * more than five payloads of a session in a second.
 */
export function payloadChecker(portal: Portal): Endpoint {
  const limiter = createRateLimiter(portal.clock);
  return portal.ofClient('/developers/payload', {
    GET({ response }) {
      portal.show(response, 'payload.njk', {});
    },
    async POST(visit) {
      limiter.count(visit.sessionId, checksPerSecond);
      const { payload } = await readPayload(visit);
      const { faults } = await sendPayload(portal, visit, { path: '/AccessApi/Validate', payload });
      portal.show(visit.response, 'payload.njk', { judged: judgedPayload(payload, faults) });
    },
  });
}
