import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { guidForm } from '@clinical-launch/contracts/schema';
import type { AuditOutcome } from '../domain/audit-row.ts';
import { kindOf, outcomeCodes } from '../domain/fhir-values.ts';
import { readTime, textFault } from '../domain/search-values.ts';
import { systems } from '../present/fhir-audit-event.ts';
import type { AuditCriteria } from '../store/audit-search.ts';
import {
  type CriterionName,
  cursor,
  type Parameter,
  paging,
  type ReadOptions,
  readParameters,
  type SearchRequest,
  searchCriteria,
} from './search-criteria.ts';

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

const isIdentifier = (token: string) => !token.startsWith(`${systems.patient}|`);

const parameter = (summary: string, read: Parameter['read'], more: Partial<Parameter> = {}): Parameter => ({
  summary,
  schema: { type: 'string' },
  read,
  ...more,
});
const repeatable = { isRepeatable: true } as const;

/** Creates a parameter that selects event types by their FHIR code. */
const typesBy = (summary: string, codeOf: (type: string) => string): Parameter =>
  parameter(
    summary,
    (values) => {
      const fault = values.map((value) => textFault(value, 1000)).find((found) => found !== undefined);
      if (fault !== undefined) return fault;
      const codes = values.flatMap((value) => value.split(',')).map((token) => tokenOf(token).value);
      return { types: Object.keys(eventCatalogue).filter((type) => codes.includes(codeOf(type))) };
    },
    repeatable,
  );

const agent = parameter('The user or the client, as `system|value`', readAgent);
const entity = parameter(
  'The order, order reference, launch or pseudonym of a patient, as `system|value`',
  readEntity,
);

const { correlationId, user, practice, patient, address } = searchCriteria;

/** FHIR's search parameters. */
export const fhirParameters: Readonly<Record<string, Parameter>> = {
  _id: parameter('The GUID of an event', ([id = '']) => (guidForm.test(id) ? { id } : 'must be a GUID')),
  correlation: correlationId,
  date: parameter('The time, with a prefix of eq, ge, gt, le or lt', readDate, repeatable),
  agent,
  'agent:identifier': agent,
  'agent-name': user,
  site: practice,
  entity,
  'entity:identifier': entity,
  outcome: parameter('0 for success, 4 for a refusal, 8 for a failure', readOutcome, repeatable),
  subtype: typesBy('A type of event', (type) => type),
  type: typesBy('A code of the value set audit-event-type', (type) => kindOf(type).type.code),
  action: typesBy('A code of the value set audit-event-action', (type) => kindOf(type).action),
  address,
  'patient:identifier': parameter(
    'The patient, as `system|value`. An address may contain only the pseudonym',
    ([token = '']) => {
      const { system, value } = tokenOf(token);
      if (system === '' || value === '') return 'must be system|value';
      return isIdentifier(token) ? {} : patient.read([value]);
    },
    { isInBodyOnly: isIdentifier },
  ),
  _count: paging('The number of entries on a page', /^[1-9]\d{0,5}$/, 'is invalid'),
  _after: cursor,
  _format: paging('A JSON format', /json/, 'is invalid'),
};

/**
 * Reads FHIR's search parameters. Accepts a patient's identifier only in the body, but a pseudonym also in
 * the address.
 * @throws ServiceError 400 with every fault (`readParameters`)
 */
export function readFhirSearch(given: URLSearchParams, options: ReadOptions): SearchRequest {
  const token = given.get('patient:identifier');
  return readParameters(given, {
    ...options,
    path: '/audit/AuditEvent',
    parameters: fhirParameters,
    paging: { cursor: '_after', limit: '_count', pageSize: 50, largestPage: 500 },
    identifier: token !== null && isIdentifier(token) ? tokenOf(token) : undefined,
    shown: (name, value, criteria) =>
      name === 'patient:identifier' ? `${systems.patient}|${criteria.patient}` : value,
  });
}
