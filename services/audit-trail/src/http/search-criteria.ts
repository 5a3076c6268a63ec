import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import type { Fault } from '@clinical-launch/contracts/fault';
import { guidForm } from '@clinical-launch/contracts/schema';
import { ServiceError } from '@clinical-launch/http/errors';
import type { AuditOutcome } from '../domain/audit-row.ts';
import { isPseudonym, lengthFault, readTime, textFault } from '../domain/search-values.ts';
import type { AuditCriteria } from '../store/audit-search.ts';

/** The fault of a value, as a phrase `must be …`. */
type Refusal = string;

/** How one parameter of a search is read. */
export type Parameter = {
  /** Returns the criteria of one or more values, or the fault of a value. */
  readonly read: (values: readonly string[]) => AuditCriteria | Refusal;
  readonly isRepeatable?: true;
  readonly isPaging?: true;
  /**
   * Returns true if the value may identify a patient: many programs log addresses, so only a body may contain
   * it.
   */
  readonly isInBodyOnly?: (value: string) => boolean;
};

/** A criterion of the search, with its description for people. */
export type Criterion = Parameter & { readonly summary: string };

type FaultOf = (value: string) => Refusal | undefined;

const one = (summary: string, faultOf: FaultOf, criteriaOf: (value: string) => AuditCriteria): Criterion => ({
  summary,
  read: ([value = '']) => faultOf(value) ?? criteriaOf(value),
});

const several = (
  summary: string,
  faultOf: FaultOf,
  criteriaOf: (values: readonly string[]) => AuditCriteria,
): Criterion => ({
  summary,
  read: (values) => values.map(faultOf).find((fault) => fault !== undefined) ?? criteriaOf(values),
  isRepeatable: true,
});

const text =
  (maxLength: number): FaultOf =>
  (value) =>
    textFault(value, maxLength);
const hashed =
  (maxLength: number): FaultOf =>
  (value) =>
    lengthFault(value, maxLength);
const guid: FaultOf = (value) => (guidForm.test(value) ? undefined : 'must be a GUID');
const time: FaultOf = (value) =>
  readTime(value) === undefined
    ? 'must be an RFC 3339 date, or time with an offset, in the years 1900 to 2999'
    : undefined;
export const outcomes: readonly AuditOutcome[] = ['success', 'refused', 'failed'];
const inBodyOnly = { isInBodyOnly: () => true } as const;

/**
 * The criteria of the search, by their names in the API. The pages, FHIR's search and `audit export` read the
 * values of their own parameters with this table.
 */
export const searchCriteria = {
  correlationId: one('The GUID of a launch or a request', guid, (correlationId) => ({ correlationId })),
  client: one('The client', text(200), (client) => ({ client })),
  user: one('The user, case-insensitive', text(200), (user) => ({ user })),
  practice: one('The code of the practice', text(200), (practice) => ({ practice })),
  patient: one(
    'The pseudonym of the patient, never an identifier',
    (value) =>
      isPseudonym(value) ? undefined : 'must be the pseudonym of a patient: 43 characters of Base64URL',
    (patient) => ({ patient }),
  ),
  patientSystem: { ...one('The system of the patient’s identifier', hashed(300), () => ({})), ...inBodyOnly },
  patientValue: { ...one('The patient’s identifier', hashed(200), () => ({})), ...inBodyOnly },
  orderReference: one('The reference of an order', text(200), (orderReference) => ({ orderReference })),
  orderGuid: one('The GUID of an order', guid, (orderGuid) => ({ orderGuid })),
  identifier: {
    ...one('The caller’s identifier of a launch', hashed(1000), (identifier) => ({ identifier })),
    ...inBodyOnly,
  },
  action: one('The action of the launch', text(25), (action) => ({ action })),
  reason: one('The reason of a refusal', text(60), (reason) => ({ reason })),
  address: one('The address of the caller', text(45), (address) => ({ address })),
  from: one('The start of the period, inclusive', time, (from) => ({ from: new Date(from) })),
  to: one('The end of the period, exclusive', time, (to) => ({ to: new Date(to) })),
  type: several(
    'A type of event',
    (value) => (Object.hasOwn(eventCatalogue, value) ? undefined : 'must be an event type'),
    (types) => ({ types }),
  ),
  outcome: several(
    `One of ${outcomes.join(', ')}`,
    (value) =>
      outcomes.some((known) => known === value) ? undefined : `must be one of ${outcomes.join(', ')}`,
    (values) => ({ outcomes: outcomes.filter((known) => values.includes(known)) }),
  ),
} as const satisfies Readonly<Record<string, Criterion>>;

export type CriterionName = keyof typeof searchCriteria;

/** Reads one value of a criterion. Returns undefined if the value cannot be searched for. */
export function readCriterion(name: CriterionName, value: string): AuditCriteria | undefined {
  const read = searchCriteria[name].read([value]);
  return typeof read === 'string' ? undefined : read;
}

/** Creates a parameter that selects a page. */
export const paging = (faultOf: FaultOf): Parameter => ({
  read: ([value = '']) => faultOf(value) ?? {},
  isPaging: true,
});

/** The criteria of a caller's parameters, and the names of these parameters. */
export type ReadCriteria = { readonly criteria: AuditCriteria; readonly names: readonly string[] };

/**
 * Reads the parameters of a search. If several select event types, only types that all select are searched.
 * @param more further faults, such as of a parameter that needs another
 * @throws ServiceError 400 with every fault. An unknown parameter is a fault, because ignoring it would widen
 * the search.
 */
export function readParameters(
  given: URLSearchParams,
  parameters: Readonly<Record<string, Parameter>>,
  { isBody, more = [] }: { readonly isBody: boolean; readonly more?: readonly Fault[] },
): ReadCriteria {
  const faults: Fault[] = [];
  const read: AuditCriteria[] = [];
  const names = [...new Set(given.keys())];
  const known = (name: string) => (Object.hasOwn(parameters, name) ? parameters[name] : undefined);
  const readOne = (own: Parameter | undefined, values: readonly string[]): AuditCriteria | Refusal => {
    if (own === undefined) return 'contains an unknown parameter';
    if (own.isInBodyOnly && !isBody && values.some(own.isInBodyOnly))
      return 'must be sent in the body of a POST';
    return values.length > 1 && !own.isRepeatable ? 'must not be sent more than once' : own.read(values);
  };
  for (const name of names) {
    const result = readOne(known(name), given.getAll(name));
    // The name comes from the caller and may contain anything, so the answer does not repeat an unknown one.
    if (typeof result === 'string') faults.push(faultOf(known(name) ? name : '', result));
    else read.push(result);
  }
  if (faults.length + more.length > 0) throw invalidSearch([...faults, ...more]);
  const [first, ...others] = read.flatMap(({ types }) => (types === undefined ? [] : [types]));
  const types = first?.filter((type) => others.every((list) => list.includes(type)));
  return {
    criteria: { ...Object.assign({}, ...read), ...(types === undefined ? {} : { types }) },
    names: names.filter((name) => !known(name)?.isPaging),
  };
}

/** Creates the fault of a parameter. */
export const faultOf = (path: string, message: string): Fault => ({ path, message, code: 'value' });

/** Creates the error for an invalid search. */
export const invalidSearch = (faults: readonly Fault[]): ServiceError =>
  new ServiceError({
    code: 'invalid_request',
    message: 'The query is invalid. Correct the parameters listed in `errors` and send it again.',
    faults,
  });
