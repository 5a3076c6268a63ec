import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { behind, type Exchange, type Handler, type RefusalAudit } from '@clinical-launch/http/endpoint';
import { authorizationOf } from '@clinical-launch/http/request-target';
import { type AccessTokenVerifier, assertRight, type Caller } from '@clinical-launch/trust/access-tokens';
import type { AuditCriteria } from '../store/audit-search.ts';

export const requiredRight = 'audit.read';

export type ReaderExchange = Exchange & { readonly caller: Caller };

export type ReaderDependencies = { readonly tokens: AccessTokenVerifier; readonly events: Outbox };

/**
 * Guards a handler, so that only callers that may read the log reach it. For other callers, throws
 * ServiceError 401 or 403.
 */
export function behindReader(
  { tokens }: Pick<ReaderDependencies, 'tokens'>,
  handle: Handler<ReaderExchange>,
): Handler {
  const verifyCaller = async (exchange: Exchange): Promise<ReaderExchange> => {
    const { request, call } = exchange;
    const caller = await tokens.verify(authorizationOf(request));
    call.identify(`client ${caller.issuer} ${caller.clientId}`, caller.clientId);
    return { ...exchange, caller };
  };
  return behind(verifyCaller, (exchange) => {
    assertRight(exchange.caller, requiredRight);
    return handle(exchange);
  });
}

/**
 * Creates the event `audit.refused.v1` for a refusal with the status 401 or 403. Creates no event for other
 * errors.
 */
export function auditRefusal(used: EventData<'audit.refused.v1'>['interface']): RefusalAudit<ReaderExchange> {
  return ({ status, code }, { call, caller }) => {
    if (status !== 401 && status !== 403) return undefined;
    return call.event('audit.refused.v1', {
      status,
      reason: code,
      interface: used,
      ...withoutUndefined({ issuer: caller?.issuer, clientId: caller?.clientId }),
    });
  };
}

type Searched = {
  readonly criteria?: Pick<AuditCriteria, 'correlationId' | 'patient'>;
  readonly names: readonly string[];
  readonly format: NonNullable<EventData<'audit.searched.v1'>['format']>;
};

/** Records a search and its patient, before the search is answered. */
export async function recordSearch(
  { call }: Pick<Exchange, 'call'>,
  { events, clientId }: { events: Outbox; clientId: string },
  { criteria: { correlationId, patient } = {}, names, format }: Searched,
): Promise<void> {
  const searched = withoutUndefined({ searchedId: correlationId, patient });
  await events.append([
    call.event('audit.searched.v1', { clientId, ...searched, criteria: [...names], format }),
  ]);
}
