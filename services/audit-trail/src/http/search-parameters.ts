import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import type { Fault } from '@clinical-launch/contracts/fault';
import { guidForm, withoutUndefined } from '@clinical-launch/contracts/schema';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { ServiceError } from '@clinical-launch/http/errors';
import { type AuditCursor, readCursor } from '../domain/audit-entry.ts';
import type { AuditOutcome } from '../domain/audit-row.ts';
import { isPseudonym, lengthFault, readTime, textFault } from '../domain/search-values.ts';
import type { AuditCriteria } from '../store/audit-search.ts';

/** A search with its page, read from a caller's parameters. */
export type SearchRequest = {
  readonly criteria: AuditCriteria;
  readonly names: readonly string[];
  readonly after?: AuditCursor;
  readonly limit?: number;
};

type Fields = { readonly all: URLSearchParams; readonly pseudonyms: PatientPseudonyms };
type Parameter = {
  /** Returns the fault of a value as a phrase `must be …`, or undefined if it is valid. */
  readonly faultOf: (value: string) => string | undefined;
  readonly criteriaOf: (values: readonly [string, ...string[]], fields: Fields) => AuditCriteria;
  readonly isRepeatable?: true;
  /** Set if the value may identify a patient: many programs log addresses, so only a body may contain it. */
  readonly isInBodyOnly?: true;
};

const text = (maxLength: number) => (value: string) => textFault(value, maxLength);
const hashed = (maxLength: number) => (value: string) => lengthFault(value, maxLength);
const guid = (value: string) => (guidForm.test(value) ? undefined : 'must be a GUID');
const time = (value: string) =>
  readTime(value) === undefined
    ? 'must be an RFC 3339 date, or time with an offset, in the years 1900 to 2999'
    : undefined;
const outcomes: readonly AuditOutcome[] = ['success', 'refused', 'failed'];
const isOutcome = (value: string): value is AuditOutcome => outcomes.some((outcome) => outcome === value);

const parameters: Readonly<Record<string, Parameter>> = {
  correlationId: { faultOf: guid, criteriaOf: ([correlationId]) => ({ correlationId }) },
  client: { faultOf: text(200), criteriaOf: ([client]) => ({ client }) },
  user: { faultOf: text(200), criteriaOf: ([user]) => ({ user }) },
  practice: { faultOf: text(200), criteriaOf: ([practice]) => ({ practice }) },
  patient: {
    faultOf: (value) =>
      isPseudonym(value) ? undefined : 'must be the pseudonym of a patient: 43 characters of Base64URL',
    criteriaOf: ([patient]) => ({ patient }),
  },
  patientSystem: { faultOf: hashed(300), criteriaOf: () => ({}), isInBodyOnly: true },
  patientValue: {
    faultOf: hashed(200),
    criteriaOf: ([value], { all, pseudonyms }) => ({
      patient: patientOf(all.get('patientSystem') ?? '', value, pseudonyms),
    }),
    isInBodyOnly: true,
  },
  orderReference: { faultOf: text(200), criteriaOf: ([orderReference]) => ({ orderReference }) },
  orderGuid: { faultOf: guid, criteriaOf: ([orderGuid]) => ({ orderGuid }) },
  identifier: { faultOf: hashed(1000), criteriaOf: ([identifier]) => ({ identifier }), isInBodyOnly: true },
  type: {
    faultOf: (value) => (Object.hasOwn(eventCatalogue, value) ? undefined : 'must be an event type'),
    criteriaOf: (types) => ({ types }),
    isRepeatable: true,
  },
  action: { faultOf: text(25), criteriaOf: ([action]) => ({ action }) },
  outcome: {
    faultOf: (value) => (isOutcome(value) ? undefined : `must be one of ${outcomes.join(', ')}`),
    criteriaOf: (values) => ({ outcomes: values.filter(isOutcome) }),
    isRepeatable: true,
  },
  reason: { faultOf: text(60), criteriaOf: ([reason]) => ({ reason }) },
  address: { faultOf: text(45), criteriaOf: ([address]) => ({ address }) },
  from: { faultOf: time, criteriaOf: ([from]) => ({ from: new Date(from) }) },
  to: { faultOf: time, criteriaOf: ([to]) => ({ to: new Date(to) }) },
};

/**
 * Returns the pseudonym of a patient. The system may be a URI that ends with its name, such as `nhs-number`.
 */
export const patientOf = (system: string, value: string, pseudonyms: PatientPseudonyms): string =>
  pseudonyms.of({ system: system.slice(system.lastIndexOf('/') + 1), value });

const paging: Readonly<Record<'after' | 'limit', Parameter['faultOf']>> = {
  after: (value) =>
    readCursor(value) === undefined ? 'must be the unchanged value from `next` or `cursor`' : undefined,
  limit: (value) =>
    /^\d{1,9}$/.test(value) && Number(value) > 0 ? undefined : 'must be a whole number from 1',
};

/** Returns whether a query contains any criterion other than the GUID. Old callers send only the GUID. */
export const isSearch = (query: URLSearchParams): boolean =>
  Object.keys(parameters).some((name) => name !== 'correlationId' && query.has(name));

type ReadOptions = { readonly isBody: boolean; readonly pseudonyms: PatientPseudonyms };

/**
 * Reads a search.
 * @throws ServiceError 400 with every fault. An unknown parameter is a fault, because ignoring it would widen
 * the search.
 */
export function readSearch(given: URLSearchParams, { isBody, pseudonyms }: ReadOptions): SearchRequest {
  const names = [...new Set(given.keys())];
  const faults = [
    ...names.flatMap((name) => faultsOf(name, given.getAll(name), isBody)),
    ...pairFaults(given),
  ];
  if (faults.length > 0) throw invalidSearch(faults);
  const criteria = names.map((name) => {
    const [first = '', ...more] = given.getAll(name);
    return parameters[name]?.criteriaOf([first, ...more], { all: given, pseudonyms }) ?? {};
  });
  const after = readCursor(given.get('after') ?? '');
  const limit = given.get('limit');
  return {
    criteria: Object.assign({}, ...criteria),
    names: names.filter((name) => Object.hasOwn(parameters, name)),
    ...withoutUndefined({ after }),
    ...(limit === null ? {} : { limit: Number(limit) }),
  };
}

function faultsOf(name: string, values: readonly string[], isBody: boolean): Fault[] {
  const known = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  const faultOf = known?.faultOf ?? (name === 'after' || name === 'limit' ? paging[name] : undefined);
  // The name comes from the caller and may contain anything, so the answer does not repeat it.
  if (faultOf === undefined) return [fault('', 'contains an unknown parameter')];
  if (known?.isInBodyOnly && !isBody) return [fault(name, 'must be sent in the body of a POST')];
  if (values.length > 1 && !known?.isRepeatable) return [fault(name, 'must not be sent more than once')];
  const message = values.map(faultOf).find((found) => found !== undefined);
  return message === undefined ? [] : [fault(name, message)];
}

/** Returns a fault if only one of the parameters `patientSystem` and `patientValue` is present. */
function pairFaults(given: URLSearchParams): Fault[] {
  if (given.has('patientSystem') === given.has('patientValue')) return [];
  return [fault(given.has('patientSystem') ? 'patientValue' : 'patientSystem', 'is missing')];
}

const fault = (path: string, message: string): Fault => ({ path, message, code: 'value' });

/** Creates the error for an invalid search. */
export const invalidSearch = (faults: readonly Fault[]): ServiceError =>
  new ServiceError({
    code: 'invalid_request',
    message: 'The query is invalid. Correct the parameters listed in `errors` and send it again.',
    faults,
  });
