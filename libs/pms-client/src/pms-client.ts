import { createTokenCache, type TokenRequest } from './access-token.ts';
import { isRecord, readJsonAnswer } from './json-answer.ts';
import { createPkcePair } from './pkce.ts';

/** The credentials of a PMS and the address of the platform. */
export type PmsClientOptions = TokenRequest & {
  /** The address of the platform, without `/AccessApi/RequestLaunchUrl`. */
  readonly baseUrl: string;
  /** Returns milliseconds since 1970. By default, the system clock. */
  readonly now?: () => number;
};

/** A launch whose URL can be opened. */
export type Launch = {
  /**
   * The launch URL. Open it in the user's browser immediately, because it expires after ten seconds and works
   * only once. Do not log it, because it contains the launch token and the code verifier.
   */
  readonly url: string;
  /** The id of the launch at the platform. Log this id, and send it to support if there is a problem. */
  readonly correlationId: string;
};

/** An error in a ServiceRequest. The answer 400 lists all of them. */
export type LaunchFault = {
  /** The location of the error, such as `contained[1].name[0].family`. */
  readonly path: string;
  /** What is wrong, without a subject: `is required`. Show it after the path, as in `subject is required`. */
  readonly message: string;
  /** The code of the error, which is a FHIR R4 issue type, such as `required`. */
  readonly code?: string;
  /** The resource that contains the error, such as `Patient #patient`. */
  readonly resource?: string;
};

/** The answer of the launch API to a request that it refused. */
export type LaunchRefusal = {
  readonly status: number;
  readonly correlationId: string;
  readonly faults: readonly LaunchFault[];
  readonly retryAfterSeconds: number | undefined;
};

/**
 * The error that is thrown if the launch API refuses a request. The meaning of each `status` (OLTR: Errors):
 *
 * - 400: the ServiceRequest is invalid. Correct the `faults`
 * - 401: the access token is not valid
 * - 403: the client has no right to launch
 * - 409: the originating id was used before. Send a new id
 * - 429 or 503: wait, then try again
 */
export class LaunchRefused extends Error implements LaunchRefusal {
  readonly status: number;
  /** The id of the request at the platform. It is empty if another server, such as a proxy, answered. */
  readonly correlationId: string;
  /** All errors of the ServiceRequest if the status is 400. */
  readonly faults: readonly LaunchFault[];
  /** The seconds to wait, if the answer contains them (429, 503). */
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, correlationId, faults, retryAfterSeconds }: LaunchRefusal) {
    super(`The launch was refused with ${status} (correlation id ${correlationId || 'unknown'})`);
    this.name = 'LaunchRefused';
    this.status = status;
    this.correlationId = correlationId;
    this.faults = faults;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Requests launches for a PMS backend. Several requests may run at the same time. */
export type PmsClient = {
  /**
   * Requests a launch URL for a ServiceRequest. If the platform answers 401, requests a new access token and
   * tries once more. Other answers are not retried.
   * @throws LaunchRefused or TokenRefused if the platform refuses the request. TypeError or TimeoutError of
   *   fetch if the platform does not answer within ten seconds.
   */
  requestLaunch(serviceRequest: object): Promise<Launch>;
};

/**
 * Creates the client of a PMS. Create one client in a process, not one for each launch, so that its access
 * token is reused. Use the client only in the backend, because a browser must never receive the client secret
 * or the access token.
 *
 * @example
 * ```ts
 * const client = createPmsClient({ baseUrl, tokenUrl, clientId, clientSecret, scope });
 * const { url, correlationId } = await client.requestLaunch(buildServiceRequest(launch));
 * response.redirect(303, url); // immediately
 * ```
 */
export function createPmsClient(options: PmsClientOptions): PmsClient {
  const tokens = createTokenCache(options, options.now ?? Date.now);
  const send = options.fetch ?? fetch;
  const address = `${options.baseUrl.replace(/\/+$/, '')}/AccessApi/RequestLaunchUrl`;

  const post = async (serviceRequest: object, codeChallenge: string) => {
    const token = await tokens.get();
    const response = await send(address, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'Code-Challenge': codeChallenge,
      },
      body: JSON.stringify(serviceRequest),
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status === 401) tokens.forget(token);
    return response;
  };

  return {
    async requestLaunch(serviceRequest) {
      const { codeVerifier, codeChallenge } = createPkcePair();
      let response = await post(serviceRequest, codeChallenge);
      // The cached token may be invalid because a signing key or the registration has changed.
      if (response.status === 401) response = await post(serviceRequest, codeChallenge);
      const { url, errors } = await readJsonAnswer(response);
      if (response.status !== 200 || typeof url !== 'string')
        throw new LaunchRefused(refusalIn(response, errors));
      return { url: `${url}&codeVerifier=${codeVerifier}`, correlationId: correlationIdOf(response) };
    },
  };
}

function refusalIn(response: Response, errors: unknown): LaunchRefusal {
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  return {
    status: response.status,
    correlationId: correlationIdOf(response),
    faults: Array.isArray(errors) ? errors.filter(isFault) : [],
    retryAfterSeconds: Number.isFinite(wait) ? wait : undefined,
  };
}

const correlationIdOf = (response: Response) => response.headers.get('x-correlation-id') ?? '';

const isFault = (entry: unknown): entry is LaunchFault =>
  isRecord(entry) && typeof entry['path'] === 'string' && typeof entry['message'] === 'string';
