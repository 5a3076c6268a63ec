import { TokenRefusal } from '../errors.ts';
import { assertionParameters } from './client-assertion.ts';

export type ClientCredentials = {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The headers of the 401 answer that refuses these credentials. */
  readonly challenge: Readonly<Record<string, string>>;
};

export const clientAuthenticationMethods = ['client_secret_basic', 'client_secret_post'];
export const clientParameters = ['client_id', 'client_secret', ...assertionParameters];

/**
 * Reads the client credentials of a token request from the body or HTTP Basic (RFC 6749 section 2.3.1).
 * @param realm the protection space in the challenge
 * @throws TokenRefusal if there are none, if they are malformed, or if there are two kinds
 */
export function readClientCredentials({
  authorization,
  parameters,
  realm,
}: {
  authorization: string | undefined;
  parameters: ReadonlyMap<string, string>;
  realm: string;
}): ClientCredentials {
  const clientId = parameters.get('client_id');
  const clientSecret = parameters.get('client_secret');
  if (authorization === undefined) {
    if (clientId === undefined || clientSecret === undefined) throw new TokenRefusal('no_authentication');
    return { clientId, clientSecret, challenge: {} };
  }
  if (clientSecret !== undefined) throw new TokenRefusal('two_authentications');
  // Only a client that sent an Authorization header receives a challenge (RFC 6749 section 5.2).
  const challenge = { 'WWW-Authenticate': `Basic realm="${realm}", charset="UTF-8"` };
  const basic = readBasic(authorization);
  if (basic === undefined) throw new TokenRefusal('malformed_authorization', { headers: challenge });
  if (clientId !== undefined && clientId !== basic.clientId) throw new TokenRefusal('two_authentications');
  return { ...basic, challenge };
}

/**
 * Reads HTTP Basic credentials (RFC 7617 section 2), in which the client id and the secret are
 * form-urlencoded (RFC 6749 section 2.3.1).
 */
function readBasic(authorization: string): { clientId: string; clientSecret: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  try {
    return { clientId: formDecode(pair.slice(0, colon)), clientSecret: formDecode(pair.slice(colon + 1)) };
  } catch {
    // A percent sign without two hexadecimal digits is not form-urlencoded.
    return undefined;
  }
}

const formDecode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
