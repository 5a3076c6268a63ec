import { guidForm } from '@clinical-launch/contracts/schema';
import { sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import type { AuditStore } from '../store/audit-store.ts';
import { type ReaderDependencies, type ReaderExchange, recordSearch } from './audit-reader.ts';
import { faultOf, invalidSearch, isSearch } from './search-criteria.ts';
import { formatFor } from './search-events.ts';

const pageSize = 500;

export type FindEventsDependencies = ReaderDependencies & {
  readonly store: AuditStore;
  /** Answers a query with any criterion other than the GUID, and callers that prefer FHIR. */
  readonly searchEvents: Handler<ReaderExchange>;
};

/**
 * Returns the events of a GUID as CloudEvents, ordered by time: `GET /audit/events?correlationId=GUID`. Pages
 * follow the order of arrival, with up to 500 events each. `next` is the address of the next page, if there
 * is one. The search is recorded as an event.
 */
export function findEvents(dependencies: FindEventsDependencies): Handler<ReaderExchange> {
  const { store, searchEvents, events } = dependencies;
  return async (exchange) => {
    const { request, response } = exchange;
    const query = queryOf(request);
    if (isSearch(query) || formatFor(request, ['json', 'fhir']) === 'fhir') return searchEvents(exchange);
    const correlationId = searchedId(query);
    const after = searchedPage(query);
    // Reads one event more than the page contains, to know whether there is a next page.
    const found = await store.findByCorrelation(correlationId, { after, limit: pageSize + 1 });
    const page = found.slice(0, pageSize);
    const searched = { criteria: { correlationId }, names: ['correlationId'], format: 'json' } as const;
    await recordSearch(exchange, { events, ...exchange.caller }, searched);
    const last = page.at(-1);
    response.setHeader('Cache-Control', 'no-store');
    sendJson(response, {
      correlationId,
      // Sorts the page by time: events come from several outboxes, so they do not arrive in order of time.
      events: page
        .map(({ event }) => event)
        .toSorted((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0)),
      ...(last === undefined || found.length === page.length
        ? {}
        : { next: `/audit/events?correlationId=${correlationId}&after=${last.place}` }),
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
  throw invalid('after', 'must be the unchanged value from `next`');
}

const invalid = (path: string, message: string) => invalidSearch([faultOf(path, message)]);
