import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { RegisteredClient, RegisteredPartner } from '@clinical-launch/contracts/registry';
import type { Call } from '@clinical-launch/http/call';
import type { DpopProof } from '@clinical-launch/trust/dpop-proof';
import type { TokenAnswer } from '../domain/answers.ts';
import type { DesktopIssuingRealm, IssuingRealm } from '../domain/realms.ts';

export type { TokenAnswer } from '../domain/answers.ts';

type GrantParameters = {
  /** The grant's own parameters, by name; a parameter without a value is absent (RFC 6749 section 3.2). */
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
   * Stores the events of the request and, in the same step, uses up the single-use credential that
   * authenticated the client. @throws TokenRefusal 401 when the credential was already used
   */
  readonly commit: (events: readonly CloudEvent[]) => Promise<void>;
};

/** A token request of a partner application: a public client, which the ticket that it holds proves. */
export type PartnerRequest = GrantParameters & {
  readonly realm: DesktopIssuingRealm;
  /** The partner that `client_id` names, if it was sent. */
  readonly partner: RegisteredPartner | undefined;
  /** The DPoP proof of the request, if it has one (RFC 9449 section 5). Used up with the ticket. */
  readonly dpopProof: DpopProof | undefined;
  /** The thumbprint of the connection's client certificate, if it has one (RFC 8705). */
  readonly certificate: string | undefined;
  /** Counts a request of a partner that holds a live ticket. @throws ServiceError 429 */
  readonly count: (partner: RegisteredPartner) => Promise<void> | undefined;
};

type GrantOf<Kind extends 'confidential' | 'public', Request> = {
  /** The value of `grant_type` */
  readonly type: string;
  /**
   * The kind of client that may use it: clients with a secret, or partner applications of a desktop realm.
   */
  readonly clients: Kind;
  /** Its parameters, in addition to those of every grant. Each may be sent once; others are ignored. */
  readonly parameters: readonly string[];
  /** Issues the token. @throws TokenRefusal */
  handle(request: Request): Promise<TokenAnswer>;
};

export type ClientGrant = GrantOf<'confidential', ClientRequest>;
export type PartnerGrant = GrantOf<'public', PartnerRequest>;

/** One way to get a token: its name, the clients that may use it, its parameters and its handler. */
export type Grant = ClientGrant | PartnerGrant;

/** Returns whether a realm offers a grant: partner grants need a desktop realm, the others a client. */
export function isOffered({ clients }: Grant, realm: IssuingRealm): boolean {
  if (clients === 'public') return realm.desktop !== undefined;
  return realm.desktop === undefined || realm.clients.size > 0;
}
