import { eventCatalogue, pseudonymPattern } from '@clinical-launch/contracts/events/catalogue';
import type { Fault } from '@clinical-launch/contracts/fault';
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { guidForm, guidPattern, withoutUndefined } from '@clinical-launch/contracts/schema';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { ServiceError } from '@clinical-launch/http/errors';
import { type AuditCursor, cursorPattern, cursorText, readCursor } from '../domain/audit-entry.ts';
import { outcomes } from '../domain/audit-row.ts';
import { isPseudonym, lengthFault, readTime, textFault, timePattern } from '../domain/search-values.ts';
import type { AuditCriteria } from '../store/audit-search.ts';

/** The fault of a value, as a phrase `must be …`. */
type Refusal = string;

/** A parameter of a search: its description for people and for programs, and how its values are read. */
export type Parameter = {
  readonly summary: string;
  readonly schema: JsonSchema;
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

type Kind = Pick<Parameter, 'schema'> & { readonly faultOf: (value: string) => Refusal | undefined };

const one = (
  summary: string,
  { schema, faultOf }: Kind,
  criteriaOf: (values: readonly string[]) => AuditCriteria = () => ({}),
): Parameter => ({
  summary,
  schema,
  read: (values) => values.map(faultOf).find((fault) => fault !== undefined) ?? criteriaOf(values),
});

const text = (maxLength: number, fault = textFault): Kind => ({
  schema: { type: 'string', minLength: 1, maxLength },
  faultOf: (value) => fault(value, maxLength),
});
const matching = (pattern: string, isValid: (value: string) => boolean, refusal: Refusal): Kind => ({
  schema: { type: 'string', pattern },
  faultOf: (value) => (isValid(value) ? undefined : refusal),
});
const word = (words: readonly string[], refusal: Refusal): Kind => ({
  schema: { enum: words },
  faultOf: (value) => (words.includes(value) ? undefined : refusal),
});
const guid = matching(guidPattern, (value) => guidForm.test(value), 'must be a GUID');
const time = matching(
  timePattern,
  (value) => readTime(value) !== undefined,
  'must be an RFC 3339 date, or time with an offset, in the years 1900 to 2999',
);
const pseudonym = matching(
  pseudonymPattern,
  isPseudonym,
  'must be the pseudonym of a patient: 43 characters of Base64URL',
);
const oneOutcome = `one of ${outcomes.join(', ')}`;
const inBodyOnly = { isInBodyOnly: () => true } as const;

/**
 * The criteria of the search, by their names in the API. The pages, FHIR's search and `audit export` read the
 * values of their own parameters with this table.
 */
export const searchCriteria = {
  correlationId: one('The GUID of a launch or a request', guid, ([correlationId]) => ({ correlationId })),
  client: one('The client', text(200), ([client]) => ({ client })),
  user: one('The user, case-insensitive', text(200), ([user]) => ({ user })),
  practice: one('The code of the practice', text(200), ([practice]) => ({ practice })),
  patient: one('The pseudonym of the patient, never an identifier', pseudonym, ([patient]) => ({ patient })),
  patientSystem: { ...one('The system of the patient’s identifier', text(300, lengthFault)), ...inBodyOnly },
  patientValue: { ...one('The patient’s identifier', text(200, lengthFault)), ...inBodyOnly },
  orderReference: one('The reference of an order', text(200), ([orderReference]) => ({ orderReference })),
  orderGuid: one('The GUID of an order', guid, ([orderGuid]) => ({ orderGuid })),
  identifier: {
    ...one('The caller’s identifier of a launch', text(1000, lengthFault), ([identifier]) => ({
      identifier,
    })),
    ...inBodyOnly,
  },
  action: one('The action of the launch', text(25), ([action]) => ({ action })),
  reason: one('The reason of a refusal', text(60), ([reason]) => ({ reason })),
  address: one('The address of the caller', text(45), ([address]) => ({ address })),
  from: one('The start of the period, inclusive', time, ([from = '']) => ({ from: new Date(from) })),
  to: one('The end of the period, exclusive', time, ([to = '']) => ({ to: new Date(to) })),
  type: {
    ...one('A type of event', word(Object.keys(eventCatalogue), 'must be an event type'), (types) => ({
      types,
    })),
    isRepeatable: true,
  },
  outcome: {
    ...one(oneOutcome.replace('o', 'O'), word(outcomes, `must be ${oneOutcome}`), (values) => ({
      outcomes: outcomes.filter((known) => values.includes(known)),
    })),
    isRepeatable: true,
  },
} as const satisfies Readonly<Record<string, Parameter>>;

export type CriterionName = keyof typeof searchCriteria;

/** Reads one value of a criterion. Returns undefined if the value cannot be searched for. */
export function readCriterion(name: CriterionName, value: string): AuditCriteria | undefined {
  const read = searchCriteria[name].read([value]);
  return typeof read === 'string' ? undefined : read;
}

/** Selects a page by the cursor of the previous page. */
export const cursor: Parameter = {
  ...one(
    'The cursor `next` of the previous page',
    matching(
      cursorPattern,
      (value) => readCursor(value) !== undefined,
      'must be the unchanged value from `next` or `cursor`',
    ),
  ),
  isPaging: true,
};

/** Creates a parameter of a page whose values have a form. */
export const paging = (summary: string, pattern: RegExp, refusal: Refusal): Parameter => ({
  ...one(
    summary,
    matching(pattern.source, (value) => pattern.test(value), refusal),
  ),
  isPaging: true,
});

/** The parameters of the API. */
export const apiParameters: Readonly<Record<string, Parameter>> = {
  ...searchCriteria,
  after: cursor,
  limit: paging('The number of entries on a page', /^(?!0+$)\d{1,9}$/, 'must be a whole number from 1'),
};

/** Returns whether a query contains any criterion other than the GUID. Old callers send only the GUID. */
export const isSearch = (query: URLSearchParams): boolean =>
  Object.keys(searchCriteria).some((name) => name !== 'correlationId' && query.has(name));

/** A search, read from a caller's parameters. */
export type SearchRequest = {
  readonly criteria: AuditCriteria;
  /** The names of the parameters that are criteria. */
  readonly names: readonly string[];
  readonly after: AuditCursor | undefined;
  /** The number of entries that the caller wants, and the number of entries on a page. */
  readonly limit: number | undefined;
  readonly pageSize: number;
  /** Returns the address of a page, with a patient's pseudonym instead of an identifier. */
  readonly addressOf: (after: AuditCursor | undefined) => string;
};

export type ReadOptions = { readonly isBody: boolean; readonly pseudonyms: PatientPseudonyms };

/** Reads a search. @throws ServiceError 400 with every fault (`readParameters`) */
export function readSearch(given: URLSearchParams, options: ReadOptions): SearchRequest {
  const [system, value] = [given.get('patientSystem'), given.get('patientValue')];
  const isPaired = (system === null) === (value === null);
  return readParameters(given, {
    ...options,
    path: '/audit/events',
    parameters: apiParameters,
    paging: { cursor: 'after', limit: 'limit', pageSize: 100, largestPage: 1000 },
    more: isPaired ? [] : [faultOf(system === null ? 'patientSystem' : 'patientValue', 'is missing')],
    identifier: system !== null && value !== null ? { system, value } : undefined,
  });
}

type Interface = ReadOptions & {
  readonly path: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** The names of the parameters that select a page, and the number of its entries. */
  readonly paging: {
    readonly cursor: string;
    readonly limit: string;
    readonly pageSize: number;
    readonly largestPage: number;
  };
  /** Further faults, such as of a parameter that needs another. */
  readonly more?: readonly Fault[];
  /** The identifier of the wanted patient. Its system may be a URI that ends with the name of the system. */
  readonly identifier: { readonly system: string; readonly value: string } | undefined;
  /** Returns the value of a parameter for an address. */
  readonly shown?: (name: string, value: string, criteria: AuditCriteria) => string;
};

/**
 * Reads the parameters of a search. If several select event types, only types that all select are searched.
 * @throws ServiceError 400 with every fault. An unknown parameter is a fault, because ignoring it would widen
 * the search.
 */
export function readParameters(
  given: URLSearchParams,
  { path, parameters, paging: page, more = [], shown = (_name, value) => value, ...options }: Interface,
): SearchRequest {
  const { isBody, pseudonyms, identifier } = options;
  const faults: Fault[] = [];
  const read: AuditCriteria[] = [];
  const known = (name: string) => (Object.hasOwn(parameters, name) ? parameters[name] : undefined);
  const readOne = (own: Parameter | undefined, values: readonly string[]): AuditCriteria | Refusal => {
    if (own === undefined) return 'contains an unknown parameter';
    if (own.isInBodyOnly && !isBody && values.some(own.isInBodyOnly))
      return 'must be sent in the body of a POST';
    return values.length > 1 && !own.isRepeatable ? 'must not be sent more than once' : own.read(values);
  };
  const all = [...new Set(given.keys())];
  for (const name of all) {
    const result = readOne(known(name), given.getAll(name));
    // The name comes from the caller and may contain anything, so the answer does not repeat an unknown one.
    if (typeof result === 'string') faults.push(faultOf(known(name) ? name : 'query', result));
    else read.push(result);
  }
  if (faults.length + more.length > 0) throw invalidSearch([...faults, ...more]);
  const [first, ...others] = read.flatMap(({ types }) => (types === undefined ? [] : [types]));
  const types = first?.filter((type) => others.every((list) => list.includes(type)));
  const patient =
    identifier &&
    pseudonyms.of({ ...identifier, system: identifier.system.slice(identifier.system.lastIndexOf('/') + 1) });
  const criteria: AuditCriteria = { ...Object.assign({}, ...read), ...withoutUndefined({ types, patient }) };
  const names = all.filter((name) => !known(name)?.isPaging);
  const limit = given.has(page.limit) ? Number(given.get(page.limit)) : undefined;
  const pageSize = Math.min(limit ?? page.pageSize, page.largestPage);
  return {
    criteria,
    names,
    after: readCursor(given.get(page.cursor) ?? ''),
    limit,
    pageSize,
    addressOf(after) {
      const address = new URLSearchParams();
      for (const name of names) {
        for (const value of given.getAll(name)) address.append(name, shown(name, value, criteria));
      }
      address.set(page.limit, String(pageSize));
      if (after !== undefined) address.set(page.cursor, cursorText(after));
      return `${path}?${address.toString()}`;
    },
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
