import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { currentSpan, isTracing, recordChildSpan } from '@clinical-launch/runtime/tracing';
import type { KyselyConfig, LogEvent } from 'kysely';

/**
 * Returns the Kysely setting that records each statement as a span (semantic conventions for SQL), including
 * the statements that begin and end a transaction. A span contains the operation and the table, but neither
 * the statement nor its parameters. Returns no setting in a process that creates no spans.
 */
export const statementSpans = (): Pick<KyselyConfig, 'log'> => (isTracing() ? { log: record } : {});

function record(event: LogEvent): void {
  if (currentSpan() === undefined) return;
  const statement = event.query.sql;
  const operation = /^\s*(\w+)/.exec(statement)?.[1]?.toUpperCase() ?? '';
  const table = tableForm.exec(statement)?.[1]?.replaceAll('"', '');
  const summary = table === undefined ? operation : `${operation} ${table}`;
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.query.summary': summary,
    ...withoutUndefined({ 'db.collection.name': table }),
  };
  const ended = { durationMs: event.queryDurationMillis };
  const failed = event.level === 'error' ? { error: event.error } : {};
  recordChildSpan({ name: summary, attributes }, { ...ended, ...failed });
}

/** The first table that a statement names. */
const tableForm = /\b(?:from|into|update)\s+("?\w+"?(?:\."?\w+"?)?)/i;
