import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { type AuditCursor, readCursor } from '../domain/audit-entry.ts';
import { faultOf, paging, type ReadCriteria, readParameters, searchCriteria } from './search-criteria.ts';

/** A search with its page, read from a caller's parameters. */
export type SearchRequest = ReadCriteria & { readonly after?: AuditCursor; readonly limit?: number };

/**
 * Returns the pseudonym of a patient. The system may be a URI that ends with its name, such as `nhs-number`.
 */
export const patientOf = (system: string, value: string, pseudonyms: PatientPseudonyms): string =>
  pseudonyms.of({ system: system.slice(system.lastIndexOf('/') + 1), value });

/** Returns the fault of a cursor, or undefined if it is valid. */
export const cursorFault = (value: string): string | undefined =>
  readCursor(value) === undefined ? 'must be the unchanged value from `next` or `cursor`' : undefined;

const parameters = {
  ...searchCriteria,
  after: paging(cursorFault),
  limit: paging((value) =>
    /^\d{1,9}$/.test(value) && Number(value) > 0 ? undefined : 'must be a whole number from 1',
  ),
};

/** Returns whether a query contains any criterion other than the GUID. Old callers send only the GUID. */
export const isSearch = (query: URLSearchParams): boolean =>
  Object.keys(searchCriteria).some((name) => name !== 'correlationId' && query.has(name));

export type ReadOptions = { readonly isBody: boolean; readonly pseudonyms: PatientPseudonyms };

/** Reads a search. @throws ServiceError 400 with every fault (`readParameters`) */
export function readSearch(given: URLSearchParams, { isBody, pseudonyms }: ReadOptions): SearchRequest {
  const [system, value] = [given.get('patientSystem'), given.get('patientValue')];
  const isPaired = (system === null) === (value === null);
  const more = isPaired ? [] : [faultOf(system === null ? 'patientSystem' : 'patientValue', 'is missing')];
  const { criteria, names } = readParameters(given, parameters, { isBody, more });
  const patient = system !== null && value !== null ? patientOf(system, value, pseudonyms) : undefined;
  const limit = given.has('limit') ? Number(given.get('limit')) : undefined;
  return {
    criteria: { ...criteria, ...withoutUndefined({ patient }) },
    names,
    ...withoutUndefined({ after: readCursor(given.get('after') ?? ''), limit }),
  };
}
