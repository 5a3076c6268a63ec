import type { CloudEvent, RegisteredClient, RegisteredPartner } from '@clinical-launch/contracts';
import type { Call } from '@clinical-launch/service/http';
import type { TokenAnswer } from '../domain/answers.ts';
import type { DesktopIssuingRealm, IssuingRealm } from '../domain/realms.ts';

export type { TokenAnswer } from '../domain/answers.ts';

type GrantParameters = {
  /** The grant's own parameters, by name; one that was empty is absent (RFC 6749 section 3.2). */
  readonly parameters: ReadonlyMap<string, string>;
  readonly call: Call;
};

/** A token request whose client is authenticated. */
export type ClientRequest = GrantParameters & {
  readonly realm: IssuingRealm;
  readonly client: RegisteredClient;
  /** The thumbprint of the connection's client certificate, where it has one (RFC 8705). */
  readonly certificate: string | undefined;
  /**
   * Stores the events of what the request did; in the same step, what authenticated the client and may be used once
   * is used up. @throws TokenRefusal 401 when that was used before
   */
  readonly commit: (events: readonly CloudEvent[]) => Promise<void>;
};

/** A token request of a partner application: a public client, which the ticket that it holds makes believable. */
export type PartnerRequest = GrantParameters & {
  readonly realm: DesktopIssuingRealm;
  /** Whom `client_id` names, where it was sent. */
  readonly partner: RegisteredPartner | undefined;
  /** The thumbprint of the key whose DPoP proof the request carries, where it does (RFC 9449 section 5). */
  readonly dpopKey: string | undefined;
  /** The thumbprint of the connection's client certificate, where it has one (RFC 8705). */
  readonly certificate: string | undefined;
  /** Counts a request of a partner that turned out to hold a live ticket. @throws ServiceError 429 */
  readonly count: (partner: RegisteredPartner) => Promise<void> | undefined;
};

type GrantOf<Kind extends 'confidential' | 'public', Request> = {
  /** The value of `grant_type` */
  readonly type: string;
  /** Who may use it: clients with a secret, or partner applications of a desktop realm. */
  readonly clients: Kind;
  /** Its parameters, beyond those that every grant has. Each may be sent once; others are ignored. */
  readonly parameters: readonly string[];
  /** Gives the token. @throws TokenRefusal */
  handle(request: Request): Promise<TokenAnswer>;
};

export type ClientGrant = GrantOf<'confidential', ClientRequest>;
export type PartnerGrant = GrantOf<'public', PartnerRequest>;

/** One way to get a token: what it is called, who may use it, what it reads, what it does. */
export type Grant = ClientGrant | PartnerGrant;

/** Whether a realm offers a grant: those of partner applications need a desktop realm, the others a client. */
export function isOffered({ clients }: Grant, realm: IssuingRealm): boolean {
  if (clients === 'public') return realm.desktop !== undefined;
  return realm.desktop === undefined || realm.clients.size > 0;
}
