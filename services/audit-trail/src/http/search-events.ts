import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { preferredType, sendJson, sendText } from '@clinical-launch/http/answer';
import { readForm, readJson } from '@clinical-launch/http/body';
import type { Exchange, Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { type AuditEntry, cursorText } from '../domain/audit-entry.ts';
import { answeredEntry } from '../present/entry-model.ts';
import { fhirBundle } from '../present/fhir-audit-event.ts';
import type { SearchAudit } from '../store/audit-search.ts';
import { pagesOf } from '../work/read-pages.ts';
import { type ReaderDependencies, type ReaderExchange, recordSearch } from './audit-reader.ts';
import { readFhirSearch } from './fhir-parameters.ts';
import { invalidSearch, readSearch, type SearchRequest } from './search-criteria.ts';

export const mediaTypes = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  fhir: 'application/fhir+json',
} as const;
type Format = keyof typeof mediaTypes;

export type SearchDependencies = ReaderDependencies & {
  readonly search: SearchAudit;
  readonly pseudonyms: PatientPseudonyms;
  /** The public address of the platform, for the links of a Bundle. */
  readonly publicUrl: string;
};

/** Returns the format that the caller prefers. The first format is the default. */
export function formatFor(request: IncomingMessage, formats: readonly [Format, ...Format[]]): Format {
  const preferred = preferredType(
    request,
    formats.map((format) => mediaTypes[format]),
  );
  return formats.find((format) => mediaTypes[format] === preferred) ?? formats[0];
}

/**
 * Answers a search, newest first: `GET /audit/events?client=…&from=…`. JSON contains up to `limit` entries
 * and, if there are more entries, the cursor `next`. NDJSON contains one entry per line, and all entries if
 * `limit` is absent. FHIR is a Bundle. The search is recorded as an event.
 */
export function searchByAddress(dependencies: SearchDependencies): Handler<ReaderExchange> {
  return (exchange) => {
    const found = readSearch(queryOf(exchange.request), { isBody: false, ...dependencies });
    return answer(exchange, dependencies, found, formatFor(exchange.request, ['json', 'ndjson', 'fhir']));
  };
}

/**
 * Answers a search with criteria that an address must not contain, sent as a form or as JSON:
 * `POST /audit/events/_search`.
 */
export function searchByBody(dependencies: SearchDependencies): Handler<ReaderExchange> {
  return async (exchange) => {
    const found = readSearch(await readFields(exchange), { isBody: true, ...dependencies });
    await answer(exchange, dependencies, found, formatFor(exchange.request, ['json', 'ndjson']));
  };
}

/**
 * Answers a search by FHIR R4 parameters with a Bundle: `GET /audit/AuditEvent?date=…`. Criteria that an
 * address must not contain are sent as a form: `POST /audit/AuditEvent/_search`.
 */
export function searchFhir(dependencies: SearchDependencies): Handler<ReaderExchange> {
  return async (exchange) => {
    const isBody = exchange.request.method === 'POST';
    const given = queryOf(exchange.request);
    const body = isBody ? await readForm(exchange, limitBytes) : [];
    const inAddress = readFhirSearch(given, { ...dependencies, isBody: false });
    // A POST may have parameters in its address as well as in its body (FHIR R4, 3.1.0.2.2.1).
    const all = new URLSearchParams([...given, ...body]);
    const found = isBody ? readFhirSearch(all, { ...dependencies, isBody }) : inAddress;
    await answer(exchange, dependencies, found, 'fhir');
  };
}

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
  exchange: ReaderExchange,
  { search, events, publicUrl }: SearchDependencies,
  found: SearchRequest,
  format: Format,
): Promise<void> {
  const { response, caller } = exchange;
  const { criteria, after, pageSize, addressOf } = found;
  await recordSearch(exchange, { events, ...caller }, { ...found, format });
  response.setHeader('Cache-Control', 'no-store');
  if (format === 'ndjson') return sendLines(response, pagesOf(search, found));
  const { entries, next } = await search(criteria, { after, limit: pageSize });
  if (format === 'json') {
    return sendJson(response, {
      entries: entries.map(answeredEntry),
      ...(next === undefined ? {} : { next: cursorText(next) }),
    });
  }
  const links = { publicUrl, self: addressOf(after), next: next && addressOf(next) };
  sendText(response, mediaTypes.fhir, JSON.stringify(fhirBundle(entries, links)));
}

/** Sends one entry per line (NDJSON), no faster than the caller reads. */
export async function sendLines(
  response: ServerResponse,
  pages: AsyncIterable<readonly AuditEntry[]>,
): Promise<void> {
  let isBegun = false;
  for await (const entries of pages) {
    if (!isBegun) response.setHeader('Content-Type', `${mediaTypes.ndjson}; charset=utf-8`);
    isBegun = true;
    const text = entries.map((entry) => `${JSON.stringify(answeredEntry(entry))}\n`).join('');
    if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (response.destroyed) return;
  }
  response.end();
}
