import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { sendText } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import type { ErrorDialect } from '@clinical-launch/http/errors';
import { operationOutcome } from '@clinical-launch/http/operation-outcome';
import { queryOf } from '@clinical-launch/http/request-target';
import { type AuditCursor, cursorText } from '../domain/audit-entry.ts';
import { type FhirAuditEvent, fhirAuditEvent } from '../present/fhir-audit-event.ts';
import type { SearchAudit } from '../store/audit-search.ts';
import { type ReaderDependencies, type ReaderExchange, recordSearch } from './audit-reader.ts';
import { type FhirSearch, readFhirSearch } from './fhir-parameters.ts';

const fhirJson = 'application/fhir+json';
const limitBytes = 16 * 1024;

export type FhirDependencies = ReaderDependencies & {
  readonly search: SearchAudit;
  readonly pseudonyms: PatientPseudonyms;
  /** The public address of the platform, to which links append `/audit`. */
  readonly publicUrl: string;
};

/** Answers errors of the FHIR endpoints with an OperationOutcome. */
export const fhirDialect: ErrorDialect = (error, { response, call }) => {
  sendText(response, fhirJson, JSON.stringify(operationOutcome(error, call.correlationId)));
};

/**
 * Answers a search by FHIR R4 parameters with a Bundle, newest first: `GET /audit/AuditEvent?date=…`.
 * Criteria that an address must not contain are sent as a form: `POST /audit/AuditEvent/_search`. The link
 * `next` leads to the next page.
 */
export function searchFhir(dependencies: FhirDependencies): Handler<ReaderExchange> {
  const { pseudonyms, search } = dependencies;
  return async (exchange) => {
    const { request, response } = exchange;
    const isBody = request.method === 'POST';
    const given = queryOf(request);
    // A POST may have parameters in its address as well as in its body (FHIR R4, 3.1.0.2.2.1).
    const body = isBody ? await readForm(exchange, limitBytes) : [];
    const fields = [...given, ...body];
    const inAddress = readFhirSearch(given, { isBody: false, pseudonyms });
    const found = isBody ? readFhirSearch(new URLSearchParams(fields), { isBody, pseudonyms }) : inAddress;
    const { criteria, names } = found;
    await recordSearch(exchange, dependencies, { criteria, names, format: 'fhir' });
    const { entries, next } = await search(criteria, { after: found.after, limit: found.count });
    const base = `${dependencies.publicUrl}/audit/AuditEvent`;
    const bundle = bundleOf(entries.map(fhirAuditEvent), { base, found, next });
    response.setHeader('Cache-Control', 'no-store');
    sendText(response, fhirJson, JSON.stringify(bundle));
  };
}

type Links = { readonly base: string; readonly found: FhirSearch; readonly next: AuditCursor | undefined };

/** Returns a page of results. Its links contain the patient's pseudonym, never an identifier. */
function bundleOf(resources: readonly FhirAuditEvent[], { base, found, next }: Links) {
  const link = (after: AuditCursor | undefined) => `${base}?${queryFor(found, after)}`;
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    link: [
      { relation: 'self', url: link(found.after) },
      ...(next === undefined ? [] : [{ relation: 'next', url: link(next) }]),
    ],
    entry: resources.map((resource) => ({
      fullUrl: `${base}/${resource.id}`,
      resource,
      search: { mode: 'match' },
    })),
  };
}

function queryFor({ given, count }: FhirSearch, after: AuditCursor | undefined): string {
  const query = new URLSearchParams(given);
  query.set('_count', String(count));
  query.delete('_after');
  if (after !== undefined) query.set('_after', cursorText(after));
  return query.toString();
}
