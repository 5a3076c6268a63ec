import { readForm } from '@clinical-launch/http/body';
import type { Exchange, Guard, Refused } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import type { DesktopIssuingRealm, IssuingRealm, Realms } from '../domain/realms.ts';
import { noDesktopRealm, TokenRefusal, unknownRealm } from '../errors.ts';

export type RealmExchange<Realm extends IssuingRealm = IssuingRealm> = Exchange & { readonly realm: Realm };

/** A request in a realm with partner applications. */
export type DesktopExchange = RealmExchange<DesktopIssuingRealm>;

/** A request with the parameters that the endpoint reads from the form. */
export type FormExchange<Realm extends IssuingRealm = IssuingRealm> = RealmExchange<Realm> & {
  readonly parameters: ReadonlyMap<string, string>;
};

/** A request and the registered client or partner that sent it. */
export type NamedExchange<Realm extends IssuingRealm = IssuingRealm> = RealmExchange<Realm> & {
  /** The registered client or partner application. Undefined if it is unknown. */
  readonly clientId: string | undefined;
};

/**
 * Creates the guard of every path of a realm. It throws ServiceError 404 if the realm is not in the registry.
 */
export function inRealm(realms: Realms): Guard<Exchange, RealmExchange> {
  return (exchange) => {
    const realm = realmOf(exchange, realms);
    if (realm === undefined) throw unknownRealm();
    return { ...exchange, realm };
  };
}

/**
 * Creates the check whether pages may read the answer to a request: only in a desktop realm. In other realms,
 * clients have secrets, which no page may contain.
 */
export function isForPages(realms: Realms): (exchange: Exchange) => boolean {
  return (exchange) => realmOf(exchange, realms)?.desktop !== undefined;
}

function realmOf({ params: { realm: segments = [] } }: Exchange, realms: Realms): IssuingRealm | undefined {
  return realms.find(typeof segments === 'string' ? [segments] : segments);
}

/**
 * Accepts a request only in a desktop realm. @throws ServiceError with the given code in other realms, by
 * default 404
 */
export function inDesktopRealm(exchange: RealmExchange, code?: 'unauthorized_client'): DesktopExchange {
  const { realm } = exchange;
  if (!isDesktopRealm(realm)) throw noDesktopRealm(code);
  return { ...exchange, realm };
}

/** Returns whether a realm has partner applications. */
export function isDesktopRealm(realm: IssuingRealm): realm is DesktopIssuingRealm {
  return realm.desktop !== undefined;
}

/**
 * Returns the registered sender of a refused request, for its audit event. Returns an empty object if the
 * sender is unknown.
 */
export function senderOf(
  error: ServiceError,
  exchange: Refused<NamedExchange>,
): { readonly clientId?: string } {
  const { clientId = exchange.clientId } = error instanceof TokenRefusal ? error : {};
  return clientId === undefined ? {} : { clientId };
}

/** The size limit of a form, above the largest request of any client. */
export const formLimitBytes = 16 * 1024;

/** Reads the form of a token request. @throws TokenRefusal 400, and 413 for more than 16 KiB. */
export async function readTokenForm(exchange: Exchange): Promise<URLSearchParams> {
  try {
    return await readForm(exchange, formLimitBytes);
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.status >= 500 || cause.status === 408) throw cause;
    // RFC 6749 section 5.2 requires 400 where HTTP would use 415.
    const reason = cause.status === 413 ? 'body_too_large' : 'not_a_form';
    throw new TokenRefusal(reason, { headers: cause.headers, cause });
  }
}

/**
 * Picks the named parameters of a form. Ignores unknown parameters, and parameters without a value (RFC 6749
 * section 3.2).
 * @throws TokenRefusal if a named parameter is repeated
 */
export function pickParameters(form: URLSearchParams, names: readonly string[]): Map<string, string> {
  const picked = new Map<string, string>();
  for (const name of names) {
    const [value = '', ...more] = form.getAll(name);
    if (more.length > 0) throw new TokenRefusal('repeated_parameter', { parameter: name });
    if (value !== '') picked.set(name, value);
  }
  return picked;
}
