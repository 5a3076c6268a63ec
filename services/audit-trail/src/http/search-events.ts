import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { preferredType, sendJson } from '@clinical-launch/http/answer';
import { readForm, readJson } from '@clinical-launch/http/body';
import type { Exchange, Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { type AuditEntry, cursorText } from '../domain/audit-entry.ts';
import { answeredEntry } from '../present/entry-model.ts';
import type { SearchAudit } from '../store/audit-search.ts';
import { pagesOf } from '../work/read-pages.ts';
import { type ReaderDependencies, type ReaderExchange, recordSearch } from './audit-reader.ts';
import { invalidSearch } from './search-criteria.ts';
import { readSearch, type SearchRequest } from './search-parameters.ts';

const pageSize = 100;
const largestPage = 1000;
const ndjson = 'application/x-ndjson';

export type SearchDependencies = ReaderDependencies & {
  readonly search: SearchAudit;
  readonly pseudonyms: PatientPseudonyms;
};

/**
 * Answers a search, newest first: `GET /audit/events?client=…&from=…`. JSON contains up to `limit` entries
 * and, if there are more entries, the cursor `next`. NDJSON contains one entry per line, and all entries if
 * `limit` is absent. The search is recorded as an event.
 */
export function searchByAddress(dependencies: SearchDependencies): Handler<ReaderExchange> {
  return async (exchange) => {
    const { pseudonyms } = dependencies;
    const found = readSearch(queryOf(exchange.request), { isBody: false, pseudonyms });
    await recordSearch(exchange, dependencies, searchedOf(exchange, found));
    await answer(exchange, dependencies, found);
  };
}

/**
 * Answers a search with criteria that an address must not contain, sent as a form or as JSON:
 * `POST /audit/events/_search`.
 */
export function searchByBody(dependencies: SearchDependencies): Handler<ReaderExchange> {
  return async (exchange) => {
    const { pseudonyms } = dependencies;
    const found = readSearch(await readFields(exchange), { isBody: true, pseudonyms });
    await recordSearch(exchange, dependencies, searchedOf(exchange, found));
    await answer(exchange, dependencies, found);
  };
}

const searchedOf = ({ request }: Exchange, { criteria, names }: SearchRequest) => ({
  criteria,
  names,
  format: isForLines(request) ? ('ndjson' as const) : ('json' as const),
});

const isForLines = (request: IncomingMessage) =>
  preferredType(request, ['application/json', ndjson]) === ndjson;

const limitBytes = 16 * 1024;

async function readFields(exchange: Exchange): Promise<URLSearchParams> {
  if (!(exchange.request.headers['content-type'] ?? '').toLowerCase().startsWith('application/json')) {
    return readForm(exchange, limitBytes);
  }
  const body = await readJson(exchange, { types: ['application/json'], limitBytes });
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw notAnObject('');
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    for (const single of Array.isArray(value) ? value : [value]) {
      if (typeof single !== 'string' && typeof single !== 'number') throw notAnObject(name);
      fields.append(name, String(single));
    }
  }
  return fields;
}

const notAnObject = (name: string) =>
  invalidSearch([
    {
      path: Object.hasOwn({ type: 1, outcome: 1 }, name) ? name : '',
      message: 'must be an object whose members are strings, numbers or arrays of these',
      code: 'structure',
    },
  ]);

async function answer(
  { request, response }: Exchange,
  { search }: SearchDependencies,
  found: SearchRequest,
): Promise<void> {
  const { criteria } = found;
  response.setHeader('Cache-Control', 'no-store');
  if (isForLines(request)) {
    return sendLines(response, pagesOf(search, found));
  }
  const limit = Math.min(found.limit ?? pageSize, largestPage);
  const { entries, next } = await search(criteria, { after: found.after, limit });
  sendJson(response, {
    entries: entries.map(answeredEntry),
    ...(next === undefined ? {} : { next: cursorText(next) }),
  });
}

/** Sends one entry per line (NDJSON), no faster than the caller reads. */
export async function sendLines(
  response: ServerResponse,
  pages: AsyncIterable<readonly AuditEntry[]>,
): Promise<void> {
  let isBegun = false;
  for await (const entries of pages) {
    if (!isBegun) response.setHeader('Content-Type', `${ndjson}; charset=utf-8`);
    isBegun = true;
    const text = entries.map((entry) => `${JSON.stringify(answeredEntry(entry))}\n`).join('');
    if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (response.destroyed) return;
  }
  response.end();
}
