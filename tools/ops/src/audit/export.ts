import { userInfo } from 'node:os';
import type { AuditOutcome } from '@clinical-launch/audit-trail/domain/audit-row';
import type { OperatorLog } from '@clinical-launch/audit-trail/operator-log';
import { answeredEntry } from '@clinical-launch/audit-trail/present/entry-model';
import { fhirAuditEvent } from '@clinical-launch/audit-trail/present/fhir-audit-event';
import type { AuditCriteria } from '@clinical-launch/audit-trail/store/audit-search';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Option } from '@clinical-launch/process/command-line';
import type { Input, Outcome } from '../command.ts';

const outcomes: readonly AuditOutcome[] = ['success', 'refused', 'failed'];
const formats = ['ndjson', 'fhir'] as const;

const timeFault = (value: string) =>
  Number.isNaN(Date.parse(value)) ? 'must be a date or a time, such as 2026-11-21T16:10:00Z' : undefined;
const oneOf = (values: readonly string[]) => (value: string) =>
  values.includes(value) ? undefined : `must be one of ${values.join(', ')}`;

type Criterion = Option & { readonly criteriaOf: (values: readonly string[]) => AuditCriteria };

const text = (name: string, summary: string, criteriaOf: (value: string) => AuditCriteria): Criterion => ({
  name,
  value: name === 'from' || name === 'to' ? 'time' : 'value',
  summary,
  isOptional: true,
  ...(name === 'from' || name === 'to' ? { faultOf: timeFault } : {}),
  criteriaOf: ([value = '']) => criteriaOf(value),
});

const criteria: readonly Criterion[] = [
  text('correlation-id', 'The GUID of a launch or a request', (correlationId) => ({ correlationId })),
  text('client', 'The client', (client) => ({ client })),
  text('user', 'The user, case-insensitive', (user) => ({ user })),
  text('practice', 'The code of the practice', (practice) => ({ practice })),
  text('patient', 'The pseudonym of the patient, never an identifier', (patient) => ({ patient })),
  text('order-reference', 'The reference of an order', (orderReference) => ({ orderReference })),
  text('order-guid', 'The GUID of an order', (orderGuid) => ({ orderGuid })),
  text('action', 'The action of the launch', (action) => ({ action })),
  text('reason', 'The reason of a refusal', (reason) => ({ reason })),
  text('from', 'The start of the period, inclusive', (from) => ({ from: new Date(from) })),
  text('to', 'The end of the period, exclusive', (to) => ({ to: new Date(to) })),
  {
    name: 'type',
    value: 'type',
    summary: 'A type of event',
    isOptional: true,
    isRepeatable: true,
    criteriaOf: (types) => ({ types }),
  },
  {
    name: 'outcome',
    value: 'outcome',
    summary: `One of ${outcomes.join(', ')}`,
    isOptional: true,
    isRepeatable: true,
    faultOf: oneOf(outcomes),
    criteriaOf: (values) => ({ outcomes: outcomes.filter((outcome) => values.includes(outcome)) }),
  },
];
const format: Option = {
  name: 'format',
  value: 'format',
  summary: 'ndjson (as the service returns it) or fhir (AuditEvent resources)',
  isOptional: true,
  faultOf: oneOf(formats),
};

/** The options of `audit export`. */
export const exportOptions: readonly Option[] = [...criteria, format];

/** Records the export, and prints the matching entries. With `--json`, returns the entries. */
export async function exportEntries(
  { options, now, isJson, print }: Pick<Input, 'options' | 'now' | 'isJson' | 'print'>,
  atDesk: <Result>(work: (desk: OperatorLog) => Promise<Result>) => Promise<Result>,
): Promise<Outcome> {
  const given = criteria.filter(({ name }) => options.has(name));
  const wanted: AuditCriteria = Object.assign(
    {},
    ...given.map((one) => one.criteriaOf(options.get(one.name) ?? [])),
  );
  const [chosen = 'ndjson'] = options.get(format.name) ?? [];
  return atDesk(async (desk) => {
    const { correlationId, patient } = wanted;
    const exported = {
      clientId: 'ops',
      user: { username: operatorName() },
      criteria: given.map(({ name }) => name),
      format: chosen === 'fhir' ? ('fhir' as const) : ('ndjson' as const),
      ...withoutUndefined({ searchedId: correlationId, patient }),
    };
    await desk.recordExport(exported, new Date(now));
    const result: unknown[] = [];
    for await (const entry of desk.entries(wanted)) {
      const exportedEntry = chosen === 'fhir' ? fhirAuditEvent(entry) : answeredEntry(entry);
      if (isJson) result.push(exportedEntry);
      else await print(JSON.stringify(exportedEntry));
    }
    return { lines: [], result };
  });
}

/** Returns the name of the user who runs the command. In a container, a user may have only a number. */
function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
