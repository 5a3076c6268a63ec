import { issuerOf } from '@clinical-launch/contracts/addresses';
import { type Exchange, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { queryOf } from '@clinical-launch/http/request-target';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';

/** Returns the realm in the path of a request, or undefined for a path without a realm. */
export function realmOf({ params: { realm } }: Pick<Exchange, 'params'>): string | undefined {
  return typeof realm === 'object' ? realm.join('/') : realm;
}

/**
 * Returns the address of a resource for its client, without the query.
 * @param path the path pattern of the resource, with at most a realm, or a realm and an id
 */
export function addressOf(path: string, publicUrl: string, exchange: Pick<Exchange, 'params'>): string {
  const realm = realmOf(exchange);
  if (realm === undefined) return publicUrl + path;
  const base = issuerOf(publicUrl, realm.split('/').map(encodeURIComponent).join('/'));
  const below = path.slice(path.indexOf('/v2.0') + '/v2.0'.length);
  return base + below.replace(':id', encodeURIComponent(textParameter(exchange, 'id')));
}

/**
 * Returns the id in the path of a request, or in the parameter `_id` of a search. Empty if there is none, or
 * if a search has several.
 */
export function idOf(exchange: Pick<Exchange, 'params' | 'request'>): string {
  const [searched = '', ...more] = queryOf(exchange.request).getAll('_id');
  return textParameter(exchange, 'id') || (more.length === 0 ? searched : '');
}

/** Returns the desktop realm in the path of a request. @throws ServiceError 404 */
export function desktopRealmOf(exchange: Pick<Exchange, 'params'>, registry: RegistrySource): string {
  const realm = realmOf(exchange);
  const found = registry.current().realms.find((one) => one.realm === realm && one.desktop !== undefined);
  if (found === undefined) throw new ServiceError({ code: 'not_found', message: 'Realm not found' });
  return found.realm;
}
