import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { decodeJwt, type JWTPayload } from 'jose';

/** The faults that a developer can request: a status, an answer after ten seconds, and a cut connection. */
export const faultNames = ['401', '403', '409', '410', '429', '500', '503', 'slow', 'cut'] as const;

export type FaultName = (typeof faultNames)[number];

/** Returns true if the text is the name of a fault. */
export const isFaultName = (text: string): text is FaultName => faultNames.some((name) => name === text);

/** The header that names the run of a request. The proxy does not forward it. */
export const runHeader = 'clinical-launch-run';

export type ProxiedRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

export type ProxiedAnswer = {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
};

/**
 * A request and its answer. Contains secrets and patient data, so it stays in memory. Reports contain only
 * findings.
 */
export type Exchange = {
  /**
   * `received`: the platform received the request. `sent`: the platform or a run sent the client a callback,
   * a logout token or a launch URL.
   */
  readonly direction: 'received' | 'sent';
  readonly request: ProxiedRequest;
  readonly answer: ProxiedAnswer;
  /** The time of the answer, in milliseconds since 1970. */
  readonly answeredAt: number;
  readonly clientId?: string;
  readonly launchId?: string;
  readonly fault?: FaultName;
  /**
   * The name of the change that a conformance run made to the answer, or the name of the message that the run
   * sent.
   */
  readonly probe?: string;
};

const endpoints = [
  ['token', /^\/idp\/.+\/oauth2\/v2\.0\/token$/],
  ['launch-url', /^\/AccessApi\/RequestLaunchUrl$/],
  ['open', /^\/secureLaunch$/],
  ['authorize', /^\/idp\/.+\/oauth2\/v2\.0\/authorize$/],
  ['push', /^\/idp\/.+\/oauth2\/v2\.0\/par$/],
  ['keys', /^\/idp\/.+\/discovery\/v2\.0\/keys$/],
  ['discovery', /^\/idp\/.+\/\.well-known\//],
  ['launches', /^\/idp\/.+\/launches(?:\/[^/]+)?$/],
  ['resource', /^\/resource\/|^\/idp\/.+\/v2\.0\/(?:Patient|Practitioner|Organization)\//],
  ['revoke', /^\/idp\/.+\/oauth2\/v2\.0\/revoke$/],
] as const;

export type Endpoint = (typeof endpoints)[number][0] | 'other';

/** The kinds of requests that requirements refer to. */
export const endpointNames: readonly Endpoint[] = [...endpoints.map(([name]) => name), 'other'];

/** Returns the endpoint of a request by its path. */
export const endpointOf = ({ url }: Pick<ProxiedRequest, 'url'>): Endpoint =>
  endpoints.find(([, path]) => path.test(url.pathname))?.[0] ?? 'other';

/** Returns the parameters of the query and, if the body is a form, of the body. */
export function parametersOf({ url, headers, body }: ProxiedRequest): URLSearchParams {
  const parameters = new URLSearchParams(url.search);
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true) {
    for (const [name, value] of new URLSearchParams(body)) parameters.append(name, value);
  }
  return parameters;
}

/** Returns the members of a JSON object. Returns no members for any other text. */
export function membersOf(text: string | Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text.toString());
    return isMembers(value) ? value : {};
  } catch {
    return {};
  }
}

/** Returns true if a value is an object with members, and not a list. */
export const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the bearer or DPoP token of a request, or undefined without one (RFC 6750 section 2.1). */
export const tokenIn = ({ headers }: Pick<ProxiedRequest, 'headers'>): string | undefined =>
  /^(?:Bearer|DPoP) +(\S+)$/i.exec(headers.authorization ?? '')?.[1];

/** Returns the claims of a token without verifying it. Returns no claims for any other text. */
export function claimsOf(token: string | null | undefined): JWTPayload {
  try {
    return decodeJwt(token ?? '');
  } catch {
    return {};
  }
}
