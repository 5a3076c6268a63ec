import { TokenRefusal } from '../errors.ts';
import { assertionParameters } from './client-assertion.ts';

/** What a client authenticates with, as it came: nothing of it is checked yet. */
export type ClientCredentials = {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Headers of the 401, when these do not authenticate a client. */
  readonly challenge: Readonly<Record<string, string>>;
};

export const clientAuthenticationMethods = ['client_secret_basic', 'client_secret_post'];
export const clientParameters = ['client_id', 'client_secret', ...assertionParameters];

/**
 * Finds the client credentials of a token request: in the body or by HTTP Basic (RFC 6749 section 2.3.1).
 * @param realm the protection space that a challenge names
 * @throws TokenRefusal when there are none, they cannot be read, or they came in two ways
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
  // RFC 6749 section 5.2: only a client that tried by header is told which scheme to use there.
  const challenge = { 'WWW-Authenticate': `Basic realm="${realm}", charset="UTF-8"` };
  const basic = readBasic(authorization);
  if (basic === undefined) throw new TokenRefusal('malformed_authorization', { headers: challenge });
  if (clientId !== undefined && clientId !== basic.clientId) throw new TokenRefusal('two_authentications');
  return { ...basic, challenge };
}

/** RFC 7617 section 2, with both parts form-urlencoded (RFC 6749 section 2.3.1). */
function readBasic(authorization: string): { clientId: string; clientSecret: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  try {
    return { clientId: formDecode(pair.slice(0, colon)), clientSecret: formDecode(pair.slice(colon + 1)) };
  } catch {
    // A stray percent sign: what was sent is not form-urlencoded.
    return undefined;
  }
}

const formDecode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
