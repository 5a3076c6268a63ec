import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Fault } from '@clinical-launch/contracts/fault';
import { type RefusalCode, refusals } from '@clinical-launch/contracts/refusals/codes';
import { Unavailable } from '@clinical-launch/contracts/unavailable';
import { preferredType, sendJson, sendText, setHeaders } from './answer.ts';
import type { Call } from './call.ts';
import type { OAuthError, Problem } from './openapi/error-schemas.ts';
import { operationOutcome } from './operation-outcome.ts';
import type { RefusedRequest } from './refusals.ts';

type ServiceErrorOptions = {
  readonly code: RefusalCode;
  /** The HTTP status. By default, the usual status of the code. */
  readonly status?: number;
  /** Explains what to do. Must not contain a value from the request. */
  readonly message: string;
  readonly faults?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** A refusal or a failure. The caller receives it in the error dialect of the endpoint. */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: RefusalCode;
  readonly faults: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;

  constructor({
    code,
    status = refusals[code][0],
    message,
    faults = [],
    headers = {},
    cause,
  }: ServiceErrorOptions) {
    super(message, { cause });
    this.name = 'ServiceError';
    this.status = status;
    this.code = code;
    this.faults = faults;
    this.headers = headers;
  }
}

/**
 * Creates the 503 for a dependency that is temporarily unavailable.
 * @param message a sentence that names the unavailable dependency, without its full stop
 */
export function temporarilyUnavailable(
  message: string,
  { retryAfterSeconds = 5, cause }: { readonly retryAfterSeconds?: number; readonly cause?: unknown } = {},
): ServiceError {
  return new ServiceError({
    code: 'temporarily_unavailable',
    message: `${message}. Try again`,
    headers: { 'Retry-After': String(Math.ceil(retryAfterSeconds)) },
    cause,
  });
}

/** Sends the body of an error answer, whose status and headers are already set. */
export type ErrorDialect = (
  error: ServiceError,
  exchange: { request: IncomingMessage; response: ServerResponse; call: Call },
) => void;

type Refusal = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: Call;
  readonly dialect: ErrorDialect;
  /** Creates the audit event of the refusal, or returns undefined. Never called for a 429. */
  readonly audit?: () => CloudEvent<RefusalType> | undefined;
};

/**
 * Logs an error once with its cause, stores its audit event, and answers in the dialect of the endpoint.
 * Every error answer to a readable request comes from this function. If the address of the caller has
 * exceeded its limit of refusals, answers 429 instead and stores no event.
 */
export async function refuse(
  thrown: unknown,
  { request, response, call, dialect, audit }: Refusal,
): Promise<void> {
  const found = asServiceError(thrown);
  const event = found.status === 429 ? undefined : audit?.();
  const error = await withinLimit(found, { event, call, address: call.address });
  // Omits `resource`, because the caller chose the id in it.
  const faults = error.faults.map(({ path, message, code }) => ({ path, message, code }));
  const facts = { status: error.status, code: error.code, faults };
  if (isExpected(error)) call.logger.info(facts, error.message);
  else if (isFault(error)) call.logger.error({ ...facts, err: error.cause ?? error }, error.message);
  else call.logger.warn(facts, error.message);
  if (response.headersSent) return void response.destroy();
  response.statusCode = error.status;
  setHeaders(response, { 'Cache-Control': 'no-store', ...error.headers });
  dialect(error, { request, response, call });
}

/** Returns true for an answer that is no fault: the document of an order is still in preparation. */
const isExpected = ({ code }: ServiceError) => code === 'document_not_ready';

/** Returns true for a failure. A 503 without a cause is a limit of this process. */
const isFault = ({ status, cause }: ServiceError) => status >= 500 && (status !== 503 || cause !== undefined);

type Refused = Pick<RefusedRequest, 'event' | 'address'> & { readonly call: Call };

/**
 * Returns the error, or a 429 if the address has exceeded its limit. If the refusal cannot be counted, logs
 * that failure and returns the error.
 */
async function withinLimit(error: ServiceError, { call, ...request }: Refused): Promise<ServiceError> {
  if (error.status === 429 || call.refusals === undefined) return error;
  const { identity, isAnonymous } = call;
  const isCounted = identity === undefined && error.status < 500;
  const refused = { ...request, identity, isAnonymous, isCounted };
  const recorded = await call.refusals.record(refused).catch((cause: unknown) => {
    call.logger.error({ err: cause }, 'the audit event of this refusal was not stored');
  });
  return recorded === undefined || recorded.overForMs === 0
    ? error
    : tooMany(recorded.overForMs, { cause: error });
}

/**
 * Creates a 429 (RFC 6585 section 4) with the seconds to wait.
 * @param waitMs the milliseconds to wait, or undefined if waiting does not help
 */
export function tooMany(
  waitMs: number | undefined,
  {
    message = 'Too many requests. Wait for the seconds in Retry-After',
    cause,
  }: { readonly message?: string; readonly cause?: unknown } = {},
): ServiceError {
  const seconds = waitMs === undefined ? undefined : Math.max(1, Math.ceil(waitMs / 1000));
  const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
  return new ServiceError({ code: 'too_many_requests', message, headers, cause });
}

const emptyStatuses = new Set([401, 403, 404, 409, 410, 429]);

/** Returns true if an error answer of the problem dialect has a body. */
export function hasProblemBody(status: number, { isProduction }: { isProduction: boolean }): boolean {
  return !emptyStatuses.has(status) && !(status >= 500 && isProduction);
}

type ProblemDialectOptions = {
  readonly isProduction: boolean;
  /** Returns the reason that the caller receives. By default, the code of the error. */
  readonly reasonOf?: (error: ServiceError) => string;
  /** Sends a body with every status, where the OLTR specification does not apply. */
  readonly alwaysExplains?: boolean;
};

/**
 * Creates the dialect that answers with problem details (RFC 9457), or with an OperationOutcome for `Accept:
 * application/fhir+json`. If the OLTR specification requires an empty body, sends the reason of the refusal
 * in the header `Launch-Refusal`. In production, a 5xx has no body, so only the header contains the
 * correlation id (OLTR: Errors).
 */
export function problemDialect({
  isProduction,
  reasonOf = ({ code }) => code,
  alwaysExplains = false,
}: ProblemDialectOptions): ErrorDialect {
  return (error, { request, response, call }) => {
    if (!hasProblemBody(error.status, { isProduction })) {
      if (error.status < 500) response.setHeader('Launch-Refusal', reasonOf(error));
      if (!alwaysExplains) return void response.end();
    }
    if (
      preferredType(request, ['application/problem+json', 'application/json', 'application/fhir+json']) ===
      'application/fhir+json'
    ) {
      return fhirDialect(error, { request, response, call });
    }
    const problem: Problem = {
      type: 'about:blank',
      title: error.message,
      status: error.status,
      correlationId: call.correlationId,
      ...(error.status === 400 ? { errors: [...error.faults] } : {}),
    };
    sendText(response, 'application/problem+json', JSON.stringify(problem));
  };
}

/**
 * Answers with an OAuth error (RFC 6749 section 5.2) that also contains `correlation_id`, and `errors` if the
 * body is invalid.
 */
export const oauthDialect: ErrorDialect = (error, { response, call }) => {
  const answer: OAuthError = {
    error: error.code,
    error_description: error.message,
    correlation_id: call.correlationId,
    ...(error.faults.length === 0 ? {} : { errors: [...error.faults] }),
  };
  response.setHeader('Pragma', 'no-cache');
  sendJson(response, answer);
};

/** Answers with an OperationOutcome (FHIR R4 RESTful API). */
export const fhirDialect: ErrorDialect = (error, { response, call }) => {
  const outcome = operationOutcome(error, call.correlationId);
  sendText(response, 'application/fhir+json', JSON.stringify(outcome));
};

/** Converts a thrown value to a ServiceError: 503 for `Unavailable`, and 500 for an unexpected exception. */
export function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof Unavailable) {
    const { retryAfterSeconds } = thrown;
    return temporarilyUnavailable('The service is temporarily unavailable', {
      retryAfterSeconds,
      cause: thrown,
    });
  }
  // Express throws errors with a `status` for invalid requests, such as a path that cannot be decoded.
  const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new ServiceError({
      status,
      code: 'invalid_request',
      message: 'The request could not be read',
      cause: thrown,
    });
  }
  return new ServiceError({
    code: 'server_error',
    message: 'The request failed because of an error on our side. Report the correlation id to support.',
    cause: thrown,
  });
}
