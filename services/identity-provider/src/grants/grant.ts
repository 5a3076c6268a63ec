import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { RegisteredClient, RegisteredPartner } from '@clinical-launch/contracts/registry';
import type { Call } from '@clinical-launch/http/call';
import type { DpopProof } from '@clinical-launch/trust/dpop-proof';
import type { TokenAnswer } from '../domain/answers.ts';
import type { DesktopIssuingRealm, IssuingRealm } from '../domain/realms.ts';

export type { TokenAnswer } from '../domain/answers.ts';

type GrantParameters = {
  /** The parameters of the request by name, without empty parameters (RFC 6749 section 3.2). */
  readonly parameters: ReadonlyMap<string, string>;
  readonly call: Call;
};

/** A token request whose client is authenticated. */
export type ClientRequest = GrantParameters & {
  readonly realm: IssuingRealm;
  readonly client: RegisteredClient;
  /** The thumbprint of the connection's client certificate, if it has one (RFC 8705). */
  readonly certificate: string | undefined;
  /**
   * Stores the events of the request. In the same step, uses up the single-use credential of the client.
   * @throws TokenRefusal 401 if the credential was already used
   */
  readonly commit: (events: readonly CloudEvent[]) => Promise<void>;
};

/**
 * A token request of a partner application. If the partner is a public client, it authenticates only by its
 * code or refresh token.
 */
export type PartnerRequest = GrantParameters & {
  readonly realm: DesktopIssuingRealm;
  /** The partner in `client_id`. Undefined if the request has no `client_id`. */
  readonly partner: RegisteredPartner | undefined;
  /**
   * The DPoP proof of the request, if it has one (RFC 9449 section 5). The proof is used up in the same step
   * as the code or refresh token.
   */
  readonly dpopProof: DpopProof | undefined;
  /** The thumbprint of the connection's client certificate, if it has one (RFC 8705). */
  readonly certificate: string | undefined;
  /**
   * Counts a request with a valid code or refresh token towards the rate limit of its partner.
   * @throws ServiceError 429
   */
  readonly count: (partner: RegisteredPartner) => Promise<void> | undefined;
};

type GrantOf<Kind extends 'confidential' | 'public', Request> = {
  /** The value of `grant_type`. */
  readonly type: string;
  /**
   * The kind of client that may use the grant: `confidential` for clients of a realm, `public` for partner
   * applications of a desktop realm.
   */
  readonly clients: Kind;
  /**
   * The parameters of the grant besides `grant_type` and the client authentication. Each may be sent once.
   * Unknown parameters are ignored.
   */
  readonly parameters: readonly string[];
  /** Issues the token. @throws TokenRefusal */
  handle(request: Request): Promise<TokenAnswer>;
};

export type ClientGrant = GrantOf<'confidential', ClientRequest>;
export type PartnerGrant = GrantOf<'public', PartnerRequest>;

export type Grant = ClientGrant | PartnerGrant;

/** The parts of each grant that the OpenAPI document and the discovery document contain. */
export const describedGrants = {
  clientCredentials: { type: 'client_credentials', clients: 'confidential', parameters: ['scope'] },
  authorizationCode: {
    type: 'authorization_code',
    clients: 'public',
    parameters: ['scope', 'code', 'redirect_uri', 'code_verifier'],
  },
  refreshToken: { type: 'refresh_token', clients: 'public', parameters: ['scope', 'refresh_token'] },
} as const;

/**
 * Returns whether a realm offers a grant. A partner grant requires a desktop realm. A client grant is not
 * offered in a desktop realm without clients.
 */
export function isOffered({ clients }: Grant, realm: IssuingRealm): boolean {
  if (clients === 'public') return realm.desktop !== undefined;
  return realm.desktop === undefined || realm.clients.size > 0;
}
