import type { RequestHandler, Response } from 'express';
import type { Realms } from '../domain/realms.ts';
import { type RealmParams, realmOfPath } from './realm-of-path.ts';

/** Who asks, as far as it is known yet; for the audit event of a refusal. Names of the registry, not of the request. */
export type Asker = { readonly realm: string; readonly clientId?: string };

const askers = new WeakMap<Response, Asker>();

/** Refuses a realm that is not registered before anything else is looked at, and notes it for the audit trail. */
export function identifyRealm(realms: Realms): RequestHandler<RealmParams> {
  return (request, response, next) => {
    askers.set(response, { realm: realmOfPath(realms, request.params).name });
    next();
  };
}

/** Names the client, or the partner application, that a request turned out to come from. */
export function noteClient(response: Response, client: { readonly clientId: string } | undefined): void {
  const asker = askers.get(response);
  if (asker !== undefined && client !== undefined) {
    askers.set(response, { ...asker, clientId: client.clientId });
  }
}

/** Who asked; undefined where the realm itself is unknown. */
export function askerOf(response: Response): Asker | undefined {
  return askers.get(response);
}
