import { createTokenCache, type TokenRequest } from './access-token.ts';
import { isRecord, readJsonAnswer } from './json-answer.ts';
import { createPkcePair } from './pkce.ts';

export type PmsClientOptions = TokenRequest & {
  /** Address below which `/AccessApi/RequestLaunchUrl` answers. */
  readonly baseUrl: string;
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly now?: () => number;
};

/** A launch that is ready: give `url` to the user's browser at once, it lives ten seconds and works once. */
export type Launch = {
  /** Complete: launch token and code verifier. */
  readonly url: string;
  /** Under this GUID the other side knows the launch; write it into your log. */
  readonly correlationId: string;
};

/** One fault of a request for a launch, and what to do about it. */
export type LaunchFault = {
  readonly path: string;
  readonly message: string;
  /** What kind of fault it is: a FHIR R4 issue type, such as `required`. */
  readonly code?: string;
  /** The resource that has it: `Patient #patient`. */
  readonly resource?: string;
};

/** The launch API refused: `status` as in OLTR: Errors, `faults` what to mend after a 400. */
export class LaunchRefused extends Error {
  readonly status: number;
  readonly correlationId: string;
  readonly faults: readonly LaunchFault[];
  /** Seconds to wait, when the answer was 429 or 503. */
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, faults: readonly LaunchFault[]) {
    super(
      `The launch was refused with ${response.status}; its correlation id is ${correlationIdOf(response)}`,
    );
    this.name = 'LaunchRefused';
    this.status = response.status;
    this.correlationId = correlationIdOf(response);
    this.faults = faults;
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(wait) ? wait : undefined;
  }
}

export type PmsClient = {
  /**
   * Asks for a launch of this ServiceRequest. For the backend of a PMS only: token and secret stay on the server.
   * @throws LaunchRefused, TokenRefused, or fetch's error when nothing answered.
   */
  requestLaunch(serviceRequest: object): Promise<Launch>;
};

/** Creates the client of one PMS; keep it, so that its access token is used again until it expires. */
export function createPmsClient(options: PmsClientOptions): PmsClient {
  const tokens = createTokenCache(options, options.now ?? Date.now);
  const address = `${options.baseUrl.replace(/\/+$/, '')}/AccessApi/RequestLaunchUrl`;

  const post = async (serviceRequest: object, codeChallenge: string) => {
    const token = await tokens.get();
    const response = await fetch(address, {
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
      // A key or a registration may have changed since the token was cached: one fresh token, one more try.
      if (response.status === 401) response = await post(serviceRequest, codeChallenge);
      const { url, errors } = await readJsonAnswer(response);
      if (response.status !== 200 || typeof url !== 'string')
        throw new LaunchRefused(response, faultsAmong(errors));
      return { url: `${url}&codeVerifier=${codeVerifier}`, correlationId: correlationIdOf(response) };
    },
  };
}

const correlationIdOf = (response: Response) => response.headers.get('x-correlation-id') ?? '';

function faultsAmong(errors: unknown): LaunchFault[] {
  return Array.isArray(errors) ? errors.filter(isFault) : [];
}

const isFault = (entry: unknown): entry is LaunchFault =>
  isRecord(entry) && typeof entry['path'] === 'string' && typeof entry['message'] === 'string';
