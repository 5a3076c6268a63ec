import { randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Endpoint, FaultName, ProxiedAnswer } from './exchange.ts';

/** The seconds in `Retry-After` of the faults 429 and 503. */
export const retryAfterSeconds = 2;

export type AnsweredFault = Exclude<FaultName, 'slow' | 'cut'>;

const refusals: Readonly<Record<AnsweredFault, { readonly code: string; readonly headers: object }>> = {
  401: { code: 'invalid_token', headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
  403: { code: 'insufficient_scope', headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' } },
  409: { code: 'identifier_used', headers: {} },
  410: { code: 'token_used', headers: {} },
  429: { code: 'too_many_requests', headers: { 'retry-after': String(retryAfterSeconds) } },
  500: { code: 'server_error', headers: {} },
  503: { code: 'temporarily_unavailable', headers: { 'retry-after': String(retryAfterSeconds) } },
};

/** The codes of endpoints at which the platform answers a status with a different code than `refusals`. */
const ownCodes: Partial<Record<Endpoint, Partial<Record<AnsweredFault, string>>>> = {
  token: { 401: 'invalid_client' },
  open: { 401: 'not_valid' },
};

/**
 * Returns the answer for a fault in the form of the platform. `launch-url`, `open` and unknown endpoints
 * answer without a body. Their answers with a 4xx contain the code in `Launch-Refusal`. Other endpoints
 * answer with an OAuth error (RFC 6749 section 5.2).
 */
export function faultyAnswer(fault: AnsweredFault, endpoint: Endpoint): ProxiedAnswer {
  const { headers } = refusals[fault];
  const code = ownCodes[endpoint]?.[fault] ?? refusals[fault].code;
  const correlationId = randomUUID();
  const shared = { 'x-correlation-id': correlationId, 'cache-control': 'no-store', ...headers };
  const status = Number(fault);
  if (endpoint === 'launch-url' || endpoint === 'open' || endpoint === 'other') {
    const reason = status < 500 ? { 'launch-refusal': code } : {};
    return { status, headers: { ...shared, ...reason }, body: Buffer.alloc(0) };
  }
  const error = {
    error: code,
    error_description: 'This error was requested for a test',
    correlation_id: correlationId,
  };
  return {
    status,
    headers: { ...shared, 'content-type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(error)),
  };
}

/** A fault for the next requests of a client. */
export type ArmedFault = {
  readonly clientId: string;
  readonly fault: FaultName;
  /** Without an endpoint, the fault applies to the next request of any kind. */
  readonly endpoint?: Endpoint;
  readonly times: number;
};

type WantedFault = {
  readonly fault: FaultName;
  /** Absent or empty for every endpoint. */
  readonly endpoint?: Endpoint | '';
  readonly times?: number;
};

const maxArmed = 100;

export type Faults = ReturnType<typeof createFaults>;

/** Stores the faults that developers requested, each for a number of requests. */
export function createFaults() {
  let armed: readonly ArmedFault[] = [];
  return {
    /** Adds a fault of a client. If it has more than 100 faults, drops its oldest fault. */
    arm(clientId: string, { endpoint, times = 1, fault }: WantedFault): void {
      const dropped = armed.filter((one) => one.clientId === clientId).at(-maxArmed);
      const added = { clientId, fault, times, ...withoutUndefined({ endpoint: endpoint || undefined }) };
      armed = [...armed.filter((one) => one !== dropped), added];
    },
    of: (clientId: string): readonly ArmedFault[] => armed.filter((one) => one.clientId === clientId),
    /**
     * Returns the oldest fault that applies to a request, or undefined. Reduces `times` of the fault by one.
     */
    take(clientId: string, endpoint: Endpoint): FaultName | undefined {
      const found = armed.find(
        (one) => one.clientId === clientId && (one.endpoint === undefined || one.endpoint === endpoint),
      );
      if (found === undefined) return undefined;
      const left = found.times > 1 ? [{ ...found, times: found.times - 1 }] : [];
      armed = armed.flatMap((one) => (one === found ? left : [one]));
      return found.fault;
    },
  };
}
