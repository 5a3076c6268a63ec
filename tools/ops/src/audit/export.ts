import { userInfo } from 'node:os';
import { type Criterion, searchCriteria } from '@clinical-launch/audit-trail/http/search-criteria';
import type { OperatorLog } from '@clinical-launch/audit-trail/operator-log';
import { answeredEntry } from '@clinical-launch/audit-trail/present/entry-model';
import { fhirAuditEvent } from '@clinical-launch/audit-trail/present/fhir-audit-event';
import type { AuditCriteria } from '@clinical-launch/audit-trail/store/audit-search';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Option } from '@clinical-launch/process/command-line';
import type { Input, Outcome } from '../command.ts';

const formats = ['ndjson', 'fhir'] as const;

/** The name of each option, with its criterion in the API. */
const criteria = Object.entries<Criterion>(searchCriteria).flatMap(
  ([name, { isInBodyOnly, ...criterion }]) =>
    isInBodyOnly
      ? []
      : [{ ...criterion, name: name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) }],
);

const format: Option = {
  name: 'format',
  value: 'format',
  summary: 'ndjson (as the service returns it) or fhir (AuditEvent resources)',
  isOptional: true,
  faultOf: (value) =>
    formats.some((known) => known === value) ? undefined : `must be one of ${formats.join(', ')}`,
};

/** The options of `audit export`. */
export const exportOptions: readonly Option[] = [
  ...criteria.map(({ name, summary, read, isRepeatable }) => ({
    name,
    value: 'value',
    summary,
    isOptional: true as const,
    ...withoutUndefined({ isRepeatable }),
    faultOf(value: string) {
      const fault = read([value]);
      return typeof fault === 'string' ? fault : undefined;
    },
  })),
  format,
];

/** Records the export, and prints the matching entries. With `--json`, returns the entries. */
export async function exportEntries(
  { options, now, isJson, print, progress }: Pick<Input, 'options' | 'now' | 'isJson' | 'print' | 'progress'>,
  atDesk: <Result>(work: (desk: OperatorLog) => Promise<Result>) => Promise<Result>,
): Promise<Outcome> {
  const given = criteria.filter(({ name }) => options.has(name));
  const wanted: AuditCriteria = Object.assign(
    {},
    ...given.map(({ name, read }) => read(options.get(name) ?? [])),
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
    let month = '';
    for await (const entry of desk.entries(wanted)) {
      const own = entry.time.toISOString().slice(0, 7);
      if (own !== month) progress(`exporting ${own}`);
      month = own;
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
