import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import type { Outbox } from '@clinical-launch/events/event-bus';
import type { Exchange, RefusalAudit } from '@clinical-launch/http/exchange';
import { authorizationOf } from '@clinical-launch/http/request-target';
import { type AccessTokenVerifier, assertRight, type Caller } from '@clinical-launch/trust/access-tokens';
import type { AuditCriteria } from '../store/audit-search.ts';

const requiredRight = 'audit.read';

/** Who asks, once that is proven. */
export type Found = { readonly caller: Caller };

export type ReaderDependencies = { readonly tokens: AccessTokenVerifier; readonly events: Outbox };

/**
 * Returns the caller of a request, who may read the log.
 * @throws ServiceError 401 or 403
 */
export async function readerOf(
  { request, call, found }: Pick<Exchange<Found>, 'request' | 'call' | 'found'>,
  { tokens }: Pick<ReaderDependencies, 'tokens'>,
): Promise<Caller> {
  const caller = await tokens.verify(authorizationOf(request));
  found.caller = caller;
  call.identify(`client ${caller.issuer} ${caller.clientId}`, caller.clientId);
  assertRight(caller, requiredRight);
  return caller;
}

/** Creates `audit.refused.v1` for a caller that may not read the log. */
export function auditRefusal(used: EventData<'audit.refused.v1'>['interface']): RefusalAudit<Found> {
  return ({ status, code }, { call, found: { caller } }) => {
    if (status !== 401 && status !== 403) return undefined;
    return call.event('audit.refused.v1', {
      status,
      reason: code,
      interface: used,
      ...(caller === undefined ? {} : { issuer: caller.issuer, clientId: caller.clientId }),
    });
  };
}

type Searched = {
  readonly caller: Caller;
  readonly criteria: Pick<AuditCriteria, 'correlationId' | 'patient'>;
  /** The names of the criteria. */
  readonly names: readonly string[];
  readonly format: NonNullable<EventData<'audit.searched.v1'>['format']>;
};

/** Stores that somebody searched, and for which patient, before the search is answered. */
export async function recordSearch(
  { call }: Pick<Exchange, 'call'>,
  { events }: Pick<ReaderDependencies, 'events'>,
  { caller, criteria, names, format }: Searched,
): Promise<void> {
  const { correlationId, patient } = criteria;
  const searched = {
    clientId: caller.clientId,
    ...(correlationId === undefined ? {} : { searchedId: correlationId }),
    ...(patient === undefined ? {} : { patient }),
    criteria: [...names],
    format,
  };
  await events.append([call.event('audit.searched.v1', searched)]);
}
