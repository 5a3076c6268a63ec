import { userInfo } from 'node:os';
import { readAuditKeys } from '@clinical-launch/audit-trail/config';
import { sentenceOf } from '@clinical-launch/audit-trail/domain/audit-fault';
import { type Parameter, searchCriteria } from '@clinical-launch/audit-trail/http/search-criteria';
import { type OperatorLog, openOperatorLog } from '@clinical-launch/audit-trail/operator-log';
import { answeredEntry } from '@clinical-launch/audit-trail/present/entry-model';
import { fhirAuditEvent } from '@clinical-launch/audit-trail/present/fhir-audit-event';
import type { AuditCriteria } from '@clinical-launch/audit-trail/store/audit-search';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import {
  type Answers,
  type Argument,
  type Option,
  readText,
  type Setting,
  UsageError,
} from '@clinical-launch/process/command-line';
import type { Environment } from '@clinical-launch/runtime/environment';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { type Group, type Input, type Outcome, oneOf } from '../command.ts';
import { databaseUrl, required } from '../settings.ts';

const formats = ['ndjson', 'fhir'] as const;

/** The name of each option, with its criterion in the API. */
const criteria = Object.entries<Parameter>(searchCriteria).flatMap(
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
  faultOf: oneOf(formats),
};

/** The options of `audit export`. */
const exportOptions: readonly Option[] = [
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
async function exportEntries(
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

const signingKey: Setting = {
  name: 'AUDIT_SIGNING_KEY',
  summary:
    'The key of the audit trail as a JWK; or AUDIT_SIGNING_KEY_FILE. To verify checkpoints, the public key is enough',
};
const settings = [
  { ...databaseUrl, summary: `The database of the audit trail: ${databaseUrl.summary}` },
  signingKey,
];

const dayForm = /^\d{4}-\d\d-\d\d$/;
const dayFault = (value: string) =>
  dayForm.test(value) && !Number.isNaN(Date.parse(value)) ? undefined : 'must be a date: 2026-11-21';
const dayOption = (name: string, summary: string): Option => ({
  name,
  value: 'date',
  summary,
  isOptional: true,
  faultOf: dayFault,
});
const day = dayOption('day', 'Only events of this day (UTC)');
const from = dayOption('from', 'Only events from the start of this day');
const to = dayOption('to', 'Only events to the end of this day');
const checkpointFile: Option = {
  name: 'checkpoints',
  value: 'file',
  summary: 'Checkpoints that were stored elsewhere, one per line, as `checkpoints` prints them',
  isOptional: true,
};
const firstNumber: Argument = {
  name: 'number',
  summary: 'The number of the first checkpoint (default: 1)',
  isOptional: true,
  faultOf: (value) => (/^[1-9]\d{0,14}$/.test(value) ? undefined : 'must be a whole number from 1'),
};

/** `./clinical-launch audit` */
export const audit: Group = {
  commands: {
    verify: {
      summary: 'Compares every row with its hash and seal, and the log with its signed checkpoints.',
      example: '--day 2026-11-21',
      details:
        'Finds rows that were changed, removed or inserted, even by a superuser, and reports partition, number,\n' +
        'id and time. Only checkpoints that were stored elsewhere reveal that the newest rows were removed together\n' +
        'with their checkpoints.',
      options: [day, from, to, checkpointFile],
      settings,
      async run({ options, environment, progress }) {
        const onPartition = (partition: string) => progress(`verifying ${partition}`);
        const period = periodOf(options);
        const external = externalOf(options);
        const { rows, checkpoints, faults } = await atDesk(environment, (desk) =>
          desk.verify({ ...withoutUndefined({ period }), external, onPartition }),
        );
        return {
          lines: [`${rows} rows and ${checkpoints} checkpoints verified, ${faults.length} faults`],
          result: { rows, checkpoints, faults },
          problems: faults.map(sentenceOf),
        };
      },
    },
    checkpoints: {
      summary: 'Prints the signed checkpoints, one per line, to be stored elsewhere.',
      example: '1',
      arguments: [firstNumber],
      settings,
      run: ({ arguments: [number = '1'], environment }) =>
        atDesk(environment, async (desk) => {
          const lines: string[] = [];
          for await (const jws of desk.checkpoints(Number(number))) lines.push(jws);
          return { lines, result: lines };
        }),
    },
    export: {
      summary: 'Prints the matching events, newest first, one JSON object per line.',
      example: '--practice A81001 --from 2026-11-21',
      details:
        'The export itself is recorded in the audit trail, with the name of the user who runs the command.',
      options: exportOptions,
      settings,
      run: (input) => exportEntries(input, (work) => atDesk(input.environment, work)),
    },
  },
};

/** Returns the period from the first day to the end of the last day that the options name. */
function periodOf(options: Answers) {
  const [first] = options.get(day.name) ?? options.get(from.name) ?? [];
  const [last] = options.get(day.name) ?? options.get(to.name) ?? [];
  if (options.has(day.name) && (options.has(from.name) || options.has(to.name))) {
    throw new UsageError('Give --day, or --from and --to');
  }
  if (first === undefined && last === undefined) return undefined;
  const end = new Date(last ?? '9999-12-30');
  end.setUTCDate(end.getUTCDate() + 1);
  return { from: new Date(first ?? '0001-01-01'), to: end };
}

function externalOf(options: Answers): readonly string[] {
  const [path] = options.get(checkpointFile.name) ?? [];
  const lines = path === undefined ? [] : readText(path).split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

const slowestStatementMs = 600_000;

async function atDesk<Result>(
  environment: Environment,
  work: (desk: OperatorLog) => Promise<Result>,
): Promise<Result> {
  const keys = readAuditKeys(environment);
  const url = required(environment, databaseUrl);
  const storage = await openPostgresStorage({
    url,
    applicationName: 'ops audit',
    poolSize: 2,
    statementTimeoutMs: slowestStatementMs,
  });
  try {
    return await work(await openOperatorLog(storage, keys));
  } finally {
    await storage.close();
  }
}
