import type { SingleUse } from '@clinical-launch/tickets/tickets';
import { refusedTimes } from '@clinical-launch/trust/invalid-token';
import { assertionType, claimedClient, verifyClientAssertion } from '../domain/client-assertion.ts';
import type { IssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import type { FindClientKeys, KeyOwner } from '../keys/client-keys.ts';

export const assertionParameters = ['client_assertion', 'client_assertion_type'];

/**
 * A client authenticated by an assertion. The caller must use up `singleUse`, so that the assertion is
 * accepted only once.
 */
export type AssertedClient<Client> = { readonly client: Client; readonly singleUse: SingleUse };

type Asserting<Client> = {
  readonly assertion: string;
  readonly realm: IssuingRealm;
  readonly kind: KeyOwner['kind'];
  readonly registered: ReadonlyMap<string, Client>;
  readonly findKeys: FindClientKeys;
  /** The value of `client_id`, which may be omitted (RFC 7521 section 4.2). */
  readonly clientId: string | undefined;
  /** The current time in milliseconds since 1970. */
  readonly now: number;
};

/**
 * Returns the client assertion of a request (RFC 7521 section 4.2), or undefined if there is none.
 * @throws TokenRefusal if only one of `client_assertion` and `client_assertion_type` is present, if the type
 *   is wrong, or if the request has other credentials
 */
export function readClientAssertion({
  authorization,
  parameters,
}: {
  authorization: string | undefined;
  parameters: ReadonlyMap<string, string>;
}): string | undefined {
  const type = parameters.get('client_assertion_type');
  const assertion = parameters.get('client_assertion');
  if (type === undefined && assertion === undefined) return undefined;
  if (authorization !== undefined || parameters.has('client_secret'))
    throw new TokenRefusal('two_authentications');
  if (assertion === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'client_assertion' });
  if (type !== assertionType) throw new TokenRefusal('wrong_assertion_type');
  return assertion;
}

/**
 * Authenticates a client or a partner application by its signed assertion (RFC 7523 section 2.2).
 * @throws TokenRefusal 401, with the same answer for an unknown client and for a wrong signature
 */
export async function authenticateByAssertion<Client extends { readonly clientId: string }>({
  assertion,
  realm,
  kind,
  registered,
  findKeys,
  now,
  ...sent
}: Asserting<Client>): Promise<AssertedClient<Client>> {
  const clientId = claimedClient(assertion) ?? '';
  const client = registered.get(clientId);
  const keys = findKeys({ realm: realm.name, kind, clientId });
  if (client === undefined) throw new TokenRefusal('unknown_client');
  if (keys === undefined) throw new TokenRefusal('wrong_assertion', { clientId });
  if (sent.clientId !== undefined && sent.clientId !== clientId)
    throw new TokenRefusal('assertion_of_other_client', { clientId });
  const verified = await verifyClientAssertion(assertion, {
    clientId,
    keys,
    audiences: audiencesOf(realm),
    now,
  });
  if ('fault' in verified) {
    const { fault, cause, times = refusedTimes(cause, now) } = verified;
    throw new TokenRefusal(fault, { clientId, detail: times });
  }
  const name = `client-assertion ${kind} ${realm.issuer} ${clientId} ${verified.id}`;
  return { client, singleUse: { name, forSeconds: verified.singleUseSeconds } };
}

/**
 * Returns the accepted audiences (RFC 7523 section 3, RFC 9126 section 2): our issuer, or the address of an
 * endpoint that authenticates clients.
 */
function audiencesOf({ issuer, baseUrl }: IssuingRealm): string[] {
  return [issuer, ...['token', 'par', 'revoke'].map((name) => `${baseUrl}/oauth2/v2.0/${name}`)];
}
