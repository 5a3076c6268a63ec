import { createTokenCache, type TokenRequest } from './access-token.ts';
import { isRecord, readJsonAnswer } from './json-answer.ts';
import { createPkcePair } from './pkce.ts';

/** The registration of one PMS, and the platform that it launches. */
export type PmsClientOptions = TokenRequest & {
  /** The address of the platform: `/AccessApi/RequestLaunchUrl` is below it. */
  readonly baseUrl: string;
  /** Milliseconds since 1970; the clock of the machine by default. */
  readonly now?: () => number;
};

/** A launch that is ready. */
export type Launch = {
  /**
   * Contains the launch token and the code verifier. Open it in the user's browser at once: it expires after
   * ten seconds and works once. Do not log it.
   */
  readonly url: string;
  /** Identifies the launch at the platform. Log it, and give it to support. */
  readonly correlationId: string;
};

/** One error of a ServiceRequest, as a 400 reports it. */
export type LaunchFault = {
  /** `contained[1].name[0].family` */
  readonly path: string;
  /** What to send instead, as the rest of a sentence that begins with the path. */
  readonly message: string;
  /** The kind of error: a FHIR R4 issue type, such as `required`. */
  readonly code?: string;
  /** The resource that has the error: `Patient #patient`. */
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
 * The launch API refused the request. `status` is as in OLTR: Errors: 400 (correct the `faults`), 401, 403
 * (the client has no right to launch), 409 (the originating id was used before), 429 and 503 (wait, then try
 * again).
 */
export class LaunchRefused extends Error implements LaunchRefusal {
  readonly status: number;
  /** Identifies the request at the platform; empty if another server answered. */
  readonly correlationId: string;
  /** Every error of the ServiceRequest, after a 400. */
  readonly faults: readonly LaunchFault[];
  /** Seconds to wait, if the answer names them (429, 503). */
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

/** The backend of one PMS, as a client of the platform. Safe for concurrent use. */
export type PmsClient = {
  /**
   * Requests a launch URL for a ServiceRequest. If the platform answers 401, requests a new access token and
   * tries once more; no other answer is retried.
   * @throws LaunchRefused or TokenRefused if the platform refuses; TypeError or TimeoutError of fetch if
   * nothing answers within ten seconds.
   */
  requestLaunch(serviceRequest: object): Promise<Launch>;
};

/**
 * Creates the client of one PMS. Create it once per process, not per launch, so that its access token is
 * reused until it expires. Use it in the backend only: the client secret and the access token must not reach
 * a browser.
 *
 * @example
 * ```ts
 * const client = createPmsClient({ baseUrl, tokenUrl, clientId, clientSecret, scope });
 * const { url, correlationId } = await client.requestLaunch(buildServiceRequest(launch));
 * response.redirect(303, url); // at once
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
      // A key or a registration may have changed since the token was cached.
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
    faults: faultsAmong(errors),
    retryAfterSeconds: Number.isFinite(wait) ? wait : undefined,
  };
}

const correlationIdOf = (response: Response) => response.headers.get('x-correlation-id') ?? '';

function faultsAmong(errors: unknown): LaunchFault[] {
  return Array.isArray(errors) ? errors.filter(isFault) : [];
}

const isFault = (entry: unknown): entry is LaunchFault =>
  isRecord(entry) && typeof entry['path'] === 'string' && typeof entry['message'] === 'string';
