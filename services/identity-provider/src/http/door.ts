import type { DirectExchange, Exchange, Handler } from '@clinical-launch/http/exchange';
import type { Caller } from '@clinical-launch/trust/access-tokens';
import type { DesktopIssuingRealm, IssuingRealm, Realms } from '../domain/realms.ts';
import { noDesktopRealm, unknownRealm } from '../errors.ts';

/** The first parameters of every path of a realm: the realm's segments. */
export type RealmParams = { realm: string[] };

/** Names for the audit event of a refusal, taken from the registry and never from the request. */
export type Found = {
  readonly realm: string;
  /** The client or the partner application that sent the request, once it is authenticated. */
  readonly clientId: string;
  /** The host application, once its token is verified. */
  readonly host: Caller;
};

/** A request in a realm, on Node's own request and response. */
export type DirectRealmExchange<Realm extends IssuingRealm = IssuingRealm> = DirectExchange<
  Found,
  RealmParams
> & { readonly realm: Realm };

/** A request to a path of a realm, before its realm is found. */
export type RealmRequest = Exchange<Found, RealmParams>;

/** A request in a realm. */
export type RealmExchange<
  Realm extends IssuingRealm = IssuingRealm,
  Params extends RealmParams = RealmParams,
> = Exchange<Found, Params> & { readonly realm: Realm };

/** A request in a realm that launches partner applications. */
export type DesktopExchange<Params extends RealmParams = RealmParams> = RealmExchange<
  DesktopIssuingRealm,
  Params
>;

/**
 * Creates the guard of every path of a realm. It throws ServiceError 404 for a realm that is not in the
 * registry.
 */
export function inRealm(realms: Realms) {
  return <Begun extends DirectExchange<Found, RealmParams>>(
    exchange: Begun,
  ): Begun & { readonly realm: IssuingRealm } => {
    const realm = realms.find(exchange.params.realm);
    if (realm === undefined) throw unknownRealm();
    exchange.found.realm = realm.name;
    return { ...exchange, realm };
  };
}

/** Accepts requests only in a desktop realm. The handler throws ServiceError 404 in others. */
export function inDesktopRealm<Params extends RealmParams>(
  handle: Handler<DesktopExchange<Params>>,
): Handler<RealmExchange<IssuingRealm, Params>> {
  return (exchange) => {
    const { realm } = exchange;
    if (!isDesktopRealm(realm)) throw noDesktopRealm();
    return handle({ ...exchange, realm });
  };
}

/** Returns whether a realm launches partner applications. */
export function isDesktopRealm(realm: IssuingRealm): realm is DesktopIssuingRealm {
  return realm.desktop !== undefined;
}
