import { type Endpoint, type Exchange, endpointOf, membersOf, parametersOf, tokenIn } from './exchange.ts';

const isAt = (endpoint: Endpoint) => (exchange: Exchange) =>
  exchange.direction === 'received' && endpointOf(exchange.request) === endpoint;

export const isRead = isAt('resource');
export const isKeyRequest = isAt('keys');
export const isTokenRequest = isAt('token');
const isAuthorization = isAt('authorize');
const isPush = isAt('push');

export const isRefresh = (exchange: Exchange) =>
  isTokenRequest(exchange) && parametersOf(exchange.request).has('refresh_token');
/** Returns true if the answer has the status 200. */
export const isGranted = ({ answer }: Exchange) => answer.status === 200;

/** Returns the code in the redirect of an authorization answer, or undefined without one. */
export function codeOf(exchange: Exchange): string | undefined {
  return isAuthorization(exchange)
    ? (redirectOf(exchange)?.searchParams.get('code') ?? undefined)
    : undefined;
}

/** Returns the address of a redirect, or undefined for any other answer. */
export function redirectOf({ answer }: Exchange): URL | undefined {
  return URL.parse(String(answer.headers['location'] ?? '')) ?? undefined;
}

/** Returns the code that a token request sends, or undefined. */
export const sentCodeOf = (exchange: Exchange): string | undefined =>
  isTokenRequest(exchange) ? (parametersOf(exchange.request).get('code') ?? undefined) : undefined;

/** Returns a member of a token answer, or undefined if it is no text. */
export function tokenOf(
  { answer }: Exchange,
  name: 'access_token' | 'id_token' | 'refresh_token',
): string | undefined {
  const token = membersOf(answer.body)[name];
  return typeof token === 'string' ? token : undefined;
}

/** Returns the ID token in the answer of a token request, or undefined. */
export const idTokenOf = (exchange: Exchange): string | undefined =>
  isTokenRequest(exchange) ? tokenOf(exchange, 'id_token') : undefined;

/**
 * An authorization request that was answered with a code, with its parameters, which may have been pushed
 * (RFC 9126).
 */
export type Authorization = {
  readonly exchange: Exchange;
  readonly parameters: URLSearchParams;
};

/** Returns the authorization requests that were answered with a code. */
export function authorizationsIn(exchanges: readonly Exchange[]): readonly Authorization[] {
  return exchanges
    .filter((one) => codeOf(one) !== undefined)
    .map((exchange) => {
      const parameters = parametersOf(exchange.request);
      const reference = parameters.get('request_uri');
      const pushed = exchanges.find(
        (one) => reference !== null && isPush(one) && membersOf(one.answer.body)['request_uri'] === reference,
      );
      return { exchange, parameters: pushed === undefined ? parameters : parametersOf(pushed.request) };
    });
}

/** Returns the launch identifier that an authorization request or a pushed request sends, or undefined. */
export const sentLaunchOf = (exchange: Exchange): string | undefined =>
  isAuthorization(exchange) || isPush(exchange)
    ? (parametersOf(exchange.request).get('launch') ?? undefined)
    : undefined;

/**
 * The exchanges after an authorization code: token requests with the code or its refresh tokens, and reads
 * with its access tokens.
 */
export type Flow = readonly Exchange[];

/** Returns the flow of each code, in the order in which the codes were issued. */
export function flowsIn(exchanges: readonly Exchange[]): readonly Flow[] {
  const flows: Exchange[][] = [];
  const flowOf = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const code = codeOf(exchange);
    if (code !== undefined) {
      const flow: Exchange[] = [];
      flows.push(flow);
      flowOf.set(code, flow);
    }
    if (!isTokenRequest(exchange) && !isRead(exchange)) continue;
    const flow = secretsIn(exchange)
      .map((secret) => flowOf.get(secret))
      .find((one) => one !== undefined);
    if (flow === undefined) continue;
    flow.push(exchange);
    for (const name of ['access_token', 'refresh_token'] as const) {
      const token = tokenOf(exchange, name);
      if (token !== undefined && isTokenRequest(exchange)) flowOf.set(token, flow);
    }
  }
  return flows;
}

function secretsIn({ request }: Exchange): readonly string[] {
  const parameters = parametersOf(request);
  return [tokenIn(request), parameters.get('code'), parameters.get('refresh_token')].flatMap(
    (secret) => secret ?? [],
  );
}
