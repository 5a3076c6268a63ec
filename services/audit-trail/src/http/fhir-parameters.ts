import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import type { Fault } from '@clinical-launch/contracts/fault';
import { guidPattern } from '@clinical-launch/contracts/schema';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { type AuditCursor, readCursor } from '../domain/audit-entry.ts';
import type { AuditOutcome } from '../domain/audit-row.ts';
import { kindOf, outcomeCodes } from '../domain/fhir-values.ts';
import { isPseudonym, readTime, textFault } from '../domain/search-values.ts';
import { systems } from '../present/fhir-audit-event.ts';
import type { AuditCriteria } from '../store/audit-search.ts';
import { invalidSearch, patientOf } from './search-parameters.ts';

export type FhirSearch = {
  readonly criteria: AuditCriteria;
  readonly names: readonly string[];
  readonly count: number;
  readonly after?: AuditCursor | undefined;
  /** The criteria as query parameters, with the patient's pseudonym instead of an identifier. */
  readonly given: URLSearchParams;
};

type Reader = (values: readonly string[], pseudonyms: PatientPseudonyms) => AuditCriteria | string;

const guid = new RegExp(guidPattern);
const pageSize = 50;
const largestPage = 500;

/** Parses a token, which is `system|value` or only the value (FHIR R4, 3.1.1.4.10). */
function tokenOf(token: string): { readonly system: string; readonly value: string } {
  const bar = token.indexOf('|');
  return bar < 0
    ? { system: '', value: token }
    : { system: token.slice(0, bar), value: token.slice(bar + 1) };
}

const dateForm = /^(eq|ge|gt|le|lt)?(.*)$/;
const dayMs = 86_400_000;
const dateFault = 'must be a date or a time in the years 1900 to 2999, with a prefix of eq, ge, gt, le or lt';

/** Reads dates. A date matches the whole day in UTC, and a time matches its millisecond. */
function readDate(values: readonly string[]): AuditCriteria | string {
  let [from, to] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const value of values) {
    const [, prefix = 'eq', text = ''] = dateForm.exec(value) ?? [];
    const start = readTime(text);
    if (start === undefined) return dateFault;
    const end = start + (text.length === 10 ? dayMs : 1);
    if (prefix === 'eq' || prefix === 'ge') from = Math.max(from, start);
    if (prefix === 'gt') from = Math.max(from, end);
    if (prefix === 'eq' || prefix === 'le') to = Math.min(to, end);
    if (prefix === 'lt') to = Math.min(to, start);
  }
  return {
    ...(Number.isFinite(from) ? { from: new Date(from) } : {}),
    ...(Number.isFinite(to) ? { to: new Date(to) } : {}),
  };
}

function readAgent([token = '']: readonly string[]): AuditCriteria | string {
  const { system, value } = tokenOf(token);
  if (system === systems.user) return { user: value };
  return system === systems.client || system === ''
    ? { client: value }
    : 'must be the token of a user or a client';
}

const entityCriteria: Readonly<Record<string, (value: string) => AuditCriteria>> = {
  [systems.order]: (orderGuid) => ({ orderGuid }),
  [systems.orderReference]: (orderReference) => ({ orderReference }),
  [systems.correlation]: (correlationId) => ({ correlationId }),
  [systems.patient]: (patient) => ({ patient }),
};

const pseudonymFault = 'must contain the pseudonym of a patient: 43 characters of Base64URL';

function readEntity([token = '']: readonly string[]): AuditCriteria | string {
  const { system, value } = tokenOf(token);
  const isGuid = system === systems.order || system === systems.correlation;
  if (isGuid && !guid.test(value)) return 'must be a GUID';
  if (system === systems.patient && !isPseudonym(value)) return pseudonymFault;
  return (
    entityCriteria[system]?.(value) ??
    'must be system|value for an order, an order reference, a launch or a patient'
  );
}

function readOutcome(values: readonly string[]): AuditCriteria | string {
  const codes = values.flatMap((value) => value.split(','));
  const known = Object.entries(outcomeCodes) as [AuditOutcome, string][];
  const outcomes = known.filter(([, code]) => codes.includes(code)).map(([outcome]) => outcome);
  return outcomes.length === codes.length ? { outcomes } : 'must be 0, 4 or 8';
}

const readGuid =
  (name: 'id' | 'correlationId'): Reader =>
  ([value = '']) =>
    guid.test(value) ? { [name]: value } : 'must be a GUID';

const readers: Readonly<Record<string, Reader>> = {
  _id: readGuid('id'),
  correlation: readGuid('correlationId'),
  date: readDate,
  agent: readAgent,
  'agent:identifier': readAgent,
  'agent-name': ([user = '']) => ({ user }),
  site: ([practice = '']) => ({ practice }),
  entity: readEntity,
  'entity:identifier': readEntity,
  outcome: readOutcome,
  subtype: (values) => ({
    types: values.flatMap((value) => value.split(',')).map((token) => tokenOf(token).value),
  }),
  type: (values, pseudonyms) => typesBy(({ type }) => type.code)(values, pseudonyms),
  action: (values, pseudonyms) => typesBy(({ action }) => action)(values, pseudonyms),
  address: ([address = '']) => ({ address }),
  'patient:identifier': ([token = ''], pseudonyms) => {
    const { system, value } = tokenOf(token);
    if (system === '' || value === '') return 'must be system|value';
    if (system !== systems.patient) return { patient: patientOf(system, value, pseudonyms) };
    return isPseudonym(value) ? { patient: value } : pseudonymFault;
  },
};
/** Creates the reader of a parameter that selects event types by their FHIR code. */
const typesBy =
  (codeOf: (kind: ReturnType<typeof kindOf>) => string): Reader =>
  (values) => {
    const codes = values.flatMap((value) => value.split(',')).map((token) => tokenOf(token).value);
    return { types: Object.keys(eventCatalogue).filter((type) => codes.includes(codeOf(kindOf(type)))) };
  };

const repeatable = new Set(['date', 'outcome', 'subtype', 'type', 'action']);

type ReadOptions = { readonly isBody: boolean; readonly pseudonyms: PatientPseudonyms };

/**
 * Reads FHIR's search parameters. Accepts a patient's identifier only in the body, but a pseudonym also in
 * the address.
 * @throws ServiceError 400 with every fault. An unknown parameter is a fault, because ignoring it would widen
 *   the search.
 */
export function readFhirSearch(given: URLSearchParams, { isBody, pseudonyms }: ReadOptions): FhirSearch {
  const faults: Fault[] = [];
  const criteria: AuditCriteria[] = [];
  const names = [...new Set(given.keys())].filter((name) => !Object.hasOwn(paging, name));
  for (const name of names) {
    const read = readOne(name, given.getAll(name), { isBody, pseudonyms });
    if (typeof read === 'string') faults.push(fault(Object.hasOwn(readers, name) ? name : 'query', read));
    else criteria.push(read);
  }
  for (const [name, isFine] of Object.entries(paging)) {
    const value = given.get(name);
    if (value !== null && !isFine(value)) faults.push(fault(name, 'is invalid'));
  }
  if (faults.length > 0) throw invalidSearch(faults);
  const lists = criteria.flatMap(({ types }) => (types === undefined ? [] : [types]));
  const types = lists.reduce((some, more) => some.filter((type) => more.includes(type)), lists[0] ?? []);
  const found: AuditCriteria = {
    ...Object.assign({}, ...criteria),
    ...(lists.length === 0 ? {} : { types }),
  };
  return {
    criteria: found,
    given: addressOf(given, names, found),
    names,
    count: Math.min(Number(given.get('_count') ?? pageSize), largestPage),
    after: readCursor(given.get('_after') ?? ''),
  };
}

function addressOf(given: URLSearchParams, names: readonly string[], { patient }: AuditCriteria) {
  const address = new URLSearchParams();
  for (const name of names) {
    const isPatient = name === 'patient:identifier';
    const values = isPatient ? [`${systems.patient}|${patient}`] : given.getAll(name);
    for (const value of values) address.append(name, value);
  }
  return address;
}

const paging: Readonly<Record<string, (value: string) => boolean>> = {
  _count: (value) => /^[1-9]\d{0,5}$/.test(value),
  _after: (value) => readCursor(value) !== undefined,
  _format: (value) => /json/.test(value),
};

function readOne(
  name: string,
  values: readonly string[],
  { isBody, pseudonyms }: ReadOptions,
): AuditCriteria | string {
  const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (read === undefined) return 'contains an unsupported parameter';
  const unfit = values.map((value) => textFault(value, 1000)).find((found) => found !== undefined);
  if (unfit !== undefined) return unfit;
  if (values.length > 1 && !repeatable.has(name)) return 'must not be sent more than once';
  const isPseudonymous = values.every((value) => value.startsWith(`${systems.patient}|`));
  if (name === 'patient:identifier' && !isBody && !isPseudonymous)
    return 'must be sent in the body of a POST';
  return read(values, pseudonyms);
}

const fault = (path: string, message: string): Fault => ({ path, message, code: 'value' });
