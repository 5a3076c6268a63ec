import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { guidForm } from '@clinical-launch/contracts/schema';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { type AuditCursor, readCursor } from '../domain/audit-entry.ts';
import type { AuditOutcome } from '../domain/audit-row.ts';
import { kindOf, outcomeCodes } from '../domain/fhir-values.ts';
import { readTime, textFault } from '../domain/search-values.ts';
import { systems } from '../present/fhir-audit-event.ts';
import type { AuditCriteria } from '../store/audit-search.ts';
import {
  type CriterionName,
  type Parameter,
  paging,
  type ReadCriteria,
  readParameters,
  searchCriteria,
} from './search-criteria.ts';
import { cursorFault, patientOf, type ReadOptions } from './search-parameters.ts';

export type FhirSearch = ReadCriteria & {
  readonly count: number;
  readonly after?: AuditCursor | undefined;
  /** The criteria as query parameters, with the patient's pseudonym instead of an identifier. */
  readonly given: URLSearchParams;
};

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
  if (system === systems.user) return searchCriteria.user.read([value]);
  return system === systems.client || system === ''
    ? searchCriteria.client.read([value])
    : 'must be the token of a user or a client';
}

const entityCriteria: Readonly<Record<string, CriterionName>> = {
  [systems.order]: 'orderGuid',
  [systems.orderReference]: 'orderReference',
  [systems.correlation]: 'correlationId',
  [systems.patient]: 'patient',
};

function readEntity([token = '']: readonly string[]): AuditCriteria | string {
  const { system, value } = tokenOf(token);
  const name = entityCriteria[system];
  if (name === undefined)
    return 'must be system|value for an order, an order reference, a launch or a patient';
  return searchCriteria[name].read([value]);
}

function readOutcome(values: readonly string[]): AuditCriteria | string {
  const codes = values.flatMap((value) => value.split(','));
  const known = Object.entries(outcomeCodes) as [AuditOutcome, string][];
  const outcomes = known.filter(([, code]) => codes.includes(code)).map(([outcome]) => outcome);
  return outcomes.length === codes.length ? { outcomes } : 'must be 0, 4 or 8';
}

/** Creates the reader of a parameter that selects event types by their FHIR code. */
const typesBy =
  (codeOf: (type: string) => string) =>
  (values: readonly string[]): AuditCriteria | string => {
    const fault = values.map((value) => textFault(value, 1000)).find((found) => found !== undefined);
    if (fault !== undefined) return fault;
    const codes = values.flatMap((value) => value.split(',')).map((token) => tokenOf(token).value);
    return { types: Object.keys(eventCatalogue).filter((type) => codes.includes(codeOf(type))) };
  };

const isIdentifier = (token: string) => !token.startsWith(`${systems.patient}|`);

const matching = (form: RegExp) => paging((value) => (form.test(value) ? undefined : 'is invalid'));

/** Returns FHIR's search parameters. */
function parametersWith(pseudonyms: PatientPseudonyms): Readonly<Record<string, Parameter>> {
  const { correlationId, user, practice, patient, address } = searchCriteria;
  return {
    _id: { read: ([id = '']) => (guidForm.test(id) ? { id } : 'must be a GUID') },
    correlation: correlationId,
    date: { read: readDate, isRepeatable: true },
    agent: { read: readAgent },
    'agent:identifier': { read: readAgent },
    'agent-name': user,
    site: practice,
    entity: { read: readEntity },
    'entity:identifier': { read: readEntity },
    outcome: { read: readOutcome, isRepeatable: true },
    subtype: { read: typesBy((type) => type), isRepeatable: true },
    type: { read: typesBy((type) => kindOf(type).type.code), isRepeatable: true },
    action: { read: typesBy((type) => kindOf(type).action), isRepeatable: true },
    address,
    'patient:identifier': {
      read: ([token = '']) => {
        const { system, value } = tokenOf(token);
        if (system === '' || value === '') return 'must be system|value';
        return isIdentifier(token)
          ? { patient: patientOf(system, value, pseudonyms) }
          : patient.read([value]);
      },
      isInBodyOnly: isIdentifier,
    },
    _count: matching(/^[1-9]\d{0,5}$/),
    _after: paging(cursorFault),
    _format: matching(/json/),
  };
}

/**
 * Reads FHIR's search parameters. Accepts a patient's identifier only in the body, but a pseudonym also in
 * the address.
 * @throws ServiceError 400 with every fault (`readParameters`)
 */
export function readFhirSearch(given: URLSearchParams, { isBody, pseudonyms }: ReadOptions): FhirSearch {
  const { criteria, names } = readParameters(given, parametersWith(pseudonyms), { isBody });
  const address = new URLSearchParams();
  for (const name of names) {
    const isPatient = name === 'patient:identifier';
    const values = isPatient ? [`${systems.patient}|${criteria.patient}`] : given.getAll(name);
    for (const value of values) address.append(name, value);
  }
  return {
    criteria,
    names,
    given: address,
    count: Math.min(Number(given.get('_count') ?? pageSize), largestPage),
    after: readCursor(given.get('_after') ?? ''),
  };
}
