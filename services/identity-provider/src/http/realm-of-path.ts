import type { DesktopIssuingRealm, IssuingRealm, Realms } from '../domain/realms.ts';
import { noDesktopRealm, unknownRealm } from '../errors.ts';

/** What every path of a realm begins with: the realm's segments. */
export type RealmParams = { realm: string[] };

/** The realm that a path names. @throws ServiceError 404 when the registry has none such. */
export function realmOfPath(realms: Realms, params: RealmParams): IssuingRealm {
  const realm = realms.find(params.realm);
  if (realm === undefined) throw unknownRealm();
  return realm;
}

/** The desktop realm that a path names. @throws ServiceError 404 when there is none such. */
export function desktopRealmOfPath(realms: Realms, params: RealmParams): DesktopIssuingRealm {
  const realm = realmOfPath(realms, params);
  if (!isDesktopRealm(realm)) throw noDesktopRealm();
  return realm;
}

/** Whether partner applications are launched in the realm. */
export function isDesktopRealm(realm: IssuingRealm): realm is DesktopIssuingRealm {
  return realm.desktop !== undefined;
}
