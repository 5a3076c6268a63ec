import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { RegisteredClient, RegisteredPartner } from '@clinical-launch/contracts/registry';
import type { Call } from '@clinical-launch/http/call';
import type { DpopProof } from '@clinical-launch/trust/dpop-proof';
import type { TokenAnswer } from '../domain/answers.ts';
import type { DesktopIssuingRealm, IssuingRealm } from '../domain/realms.ts';

export type { TokenAnswer } from '../domain/answers.ts';

type GrantParameters = {
  /** The grant's own parameters by name, without those that have no value (RFC 6749 section 3.2). */
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

/** A token request of a partner application. If it is a public client, only its ticket authenticates it. */
export type PartnerRequest = GrantParameters & {
  readonly realm: DesktopIssuingRealm;
  /** The partner in `client_id`, if that was sent. */
  readonly partner: RegisteredPartner | undefined;
  /** The DPoP proof of the request, if it has one (RFC 9449 section 5). It is used up with the ticket. */
  readonly dpopProof: DpopProof | undefined;
  /** The thumbprint of the connection's client certificate, if it has one (RFC 8705). */
  readonly certificate: string | undefined;
  /** Counts a request of a partner with a valid ticket. @throws ServiceError 429 */
  readonly count: (partner: RegisteredPartner) => Promise<void> | undefined;
};

type GrantOf<Kind extends 'confidential' | 'public', Request> = {
  /** The value of `grant_type`. */
  readonly type: string;
  /**
   * The kind of client that may use the grant: clients of a realm, or partner applications of a desktop
   * realm.
   */
  readonly clients: Kind;
  /** The parameters besides those of every grant. Each may be sent once. Others are ignored. */
  readonly parameters: readonly string[];
  /** Issues the token. @throws TokenRefusal */
  handle(request: Request): Promise<TokenAnswer>;
};

export type ClientGrant = GrantOf<'confidential', ClientRequest>;
export type PartnerGrant = GrantOf<'public', PartnerRequest>;

/** A way to get a token. */
export type Grant = ClientGrant | PartnerGrant;

/**
 * Returns whether a realm offers a grant. Partner grants require a desktop realm, and the others a client.
 */
export function isOffered({ clients }: Grant, realm: IssuingRealm): boolean {
  if (clients === 'public') return realm.desktop !== undefined;
  return realm.desktop === undefined || realm.clients.size > 0;
}
