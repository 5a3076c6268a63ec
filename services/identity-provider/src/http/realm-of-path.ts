import { findRealm, type IssuingRealm, type Realms } from '../domain/realms.ts';
import { unknownRealm } from '../errors.ts';

/** What every path of a realm begins with: the realm's segments. */
export type RealmParams = { realm: string[] };

/** The realm that a path names. @throws ServiceError 404 when the registry has none such. */
export function realmOfPath(realms: Realms, params: RealmParams): IssuingRealm {
  const realm = findRealm(realms, params.realm);
  if (realm === undefined) throw unknownRealm();
  return realm;
}
