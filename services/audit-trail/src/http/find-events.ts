import type { Outbox } from '@clinical-launch/events';
import {
  authorizationOf,
  type Exchange,
  guidForm,
  type Handler,
  queryOf,
  ServiceError,
} from '@clinical-launch/service/http';
import { type AccessTokenVerifier, assertRight } from '@clinical-launch/service/trust';
import type { AuditStore } from '../store/audit-store.ts';

const requiredRight = 'audit.read';
const pageSize = 500;

export type FindEventsDependencies = {
  readonly store: AuditStore;
  readonly tokens: AccessTokenVerifier;
  readonly events: Outbox;
};

/**
 * Returns the events of a GUID as CloudEvents, in the order in which they happened:
 * `GET /audit/events?correlationId=GUID`. A page contains the next 500 that arrived; `next`, if there are
 * more, is the address of the following page. The look-up is an event too.
 */
export function findEvents({ store, tokens, events }: FindEventsDependencies): Handler<Exchange> {
  return async ({ request, response, call }) => {
    const caller = await tokens.verify(authorizationOf(request));
    call.identify(`client ${caller.issuer} ${caller.clientId}`);
    assertRight(caller, requiredRight);
    const query = queryOf(request);
    const correlationId = searchedId(query);
    // One more than the page, to know whether there is a next page.
    const found = await store.findByCorrelation(correlationId, {
      after: searchedPage(query),
      limit: pageSize + 1,
    });
    const page = found.slice(0, pageSize);
    const searched = { clientId: caller.clientId, searchedId: correlationId };
    await events.append([call.event('audit.searched.v1', searched)]);
    const last = page.at(-1);
    response.set('Cache-Control', 'no-store').json({
      correlationId,
      // They come from several outboxes, so they do not arrive in the order in which they happened.
      events: page
        .map(({ event }) => event)
        .toSorted((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0)),
      ...(last === undefined || found.length === page.length
        ? {}
        : { next: `/audit/events?correlationId=${correlationId}&after=${last.sequence}` }),
    });
  };
}

function searchedId(query: URLSearchParams): string {
  const [id = '', ...more] = query.getAll('correlationId').map((value) => value.toLowerCase());
  if (guidForm.test(id) && more.length === 0) return id;
  throw invalid('correlationId', 'must be one GUID, exactly as in X-Correlation-Id');
}

function searchedPage(query: URLSearchParams): string {
  const after = query.get('after') ?? '0';
  if (/^\d{1,18}$/.test(after)) return after;
  throw invalid('after', 'must be the value from `next`, unchanged');
}

const invalid = (path: string, message: string) =>
  new ServiceError({
    status: 400,
    code: 'invalid_request',
    message: 'The query is invalid. Correct the parameters listed in `errors` and send it again.',
    faults: [{ path, message, code: 'value' }],
  });
