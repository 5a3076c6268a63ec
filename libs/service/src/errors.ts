import { type Fault, Unavailable } from '@clinical-launch/contracts';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { type Call, callOf } from './call.ts';

type ServiceErrorOptions = {
  readonly status: number;
  /** A word of the service's catalogue: what the log, the audit trail and OAuth's `error` call it. */
  readonly code: string;
  /** Tells the person who can act on it what to do. No value that a caller sent. */
  readonly message: string;
  readonly faults?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** A refusal or a failure that is answered; the edge of its path puts it into that path's dialect. */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  readonly faults: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;

  constructor({ status, code, message, faults = [], headers = {}, cause }: ServiceErrorOptions) {
    super(message, { cause });
    this.name = 'ServiceError';
    this.status = status;
    this.code = code;
    this.faults = faults;
    this.headers = headers;
  }
}

/** How errors of one path are answered. Sends the body; status and headers are set. */
export type ErrorDialect = (
  error: ServiceError,
  exchange: { request: Request; response: Response; call: Call },
) => void;

type ErrorEdgeOptions = {
  readonly dialect: ErrorDialect;
  /** Writes the audit event of a refusal. A failure to do so is logged and changes nothing for the caller. */
  readonly audit?: (error: ServiceError, call: Call, response: Response) => Promise<void>;
};

/** The one place where an error of a path becomes an answer: logged once with its cause, audited, in its dialect. */
export function errorEdge({ dialect, audit }: ErrorEdgeOptions): ErrorRequestHandler {
  return async (thrown: unknown, request, response, _next) => {
    const call = callOf(response);
    const error = asServiceError(thrown);
    const said = { status: error.status, code: error.code, faults: error.faults };
    if (error.status >= 500) call.logger.error({ ...said, err: error.cause ?? error }, error.message);
    else call.logger.warn(said, error.message);
    await audit?.(error, call, response).catch((cause: unknown) => {
      call.logger.error({ err: cause }, 'the audit event of this refusal was not kept');
    });
    if (response.headersSent) return response.destroy();
    response.status(error.status).set({ 'Cache-Control': 'no-store', ...error.headers });
    dialect(error, { request, response, call });
  };
}

const emptyStatuses = new Set([401, 403, 404, 409, 410, 429]);

/**
 * RFC 9457 problem details, or an OperationOutcome for `Accept: application/fhir+json`; an empty body where the
 * OLTR specification has none. In production a 5xx keeps its GUID in the header alone (OLTR: Errors).
 */
export function problemDialect({ isProduction }: { isProduction: boolean }): ErrorDialect {
  return (error, { request, response, call }) => {
    if (emptyStatuses.has(error.status) || (error.status >= 500 && isProduction)) return void response.end();
    if (
      request.accepts(['application/problem+json', 'application/json', 'application/fhir+json']) ===
      'application/fhir+json'
    ) {
      return void response.type('application/fhir+json').send(JSON.stringify(operationOutcome(error, call)));
    }
    const problem = {
      type: 'about:blank',
      title: error.message,
      status: error.status,
      correlationId: call.correlationId,
      ...(error.status === 400 ? { errors: error.faults } : {}),
    };
    response.type('application/problem+json').send(JSON.stringify(problem));
  };
}

function operationOutcome(error: ServiceError, call: Call) {
  const code = error.status >= 500 ? 'exception' : 'invalid';
  const faults = error.faults.length > 0 ? error.faults : [{ path: '', message: error.message }];
  return {
    resourceType: 'OperationOutcome',
    id: call.correlationId,
    issue: faults.map(({ path, message }) => ({
      severity: 'error',
      code,
      diagnostics: message,
      expression: [path === '' ? 'ServiceRequest' : `ServiceRequest.${path}`],
    })),
  };
}

/** RFC 6749 section 5.2 errors, with `correlation_id`, and `errors` where a JSON body has faults. */
export const oauthDialect: ErrorDialect = (error, { response, call }) => {
  response
    .set('Pragma', 'no-cache')
    .type('application/json')
    .send(
      JSON.stringify({
        error: error.code,
        error_description: error.message,
        correlation_id: call.correlationId,
        ...(error.faults.length === 0 ? {} : { errors: error.faults }),
      }),
    );
};

function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof Unavailable) {
    return new ServiceError({
      status: 503,
      code: 'temporarily_unavailable',
      message: 'The service cannot answer now: try again',
      headers: { 'Retry-After': String(Math.ceil(thrown.retryAfterSeconds)) },
      cause: thrown,
    });
  }
  // Express and its parsers throw errors with a status for what a caller sent (a path that cannot be decoded).
  const status = thrown instanceof Error && 'status' in thrown ? thrown.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new ServiceError({
      status,
      code: 'invalid_request',
      message: 'The request cannot be read',
      cause: thrown,
    });
  }
  return new ServiceError({
    status: 500,
    code: 'server_error',
    message: 'Something failed here. Report the correlation id to support.',
    cause: thrown,
  });
}
