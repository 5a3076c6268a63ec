import type { LogRecord, LogSender } from '@clinical-launch/process/log-records';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Loop } from '@clinical-launch/runtime/loop';
import { meter } from '@clinical-launch/runtime/metrics';
import type { AuditOutcome } from '../domain/audit-row.ts';
import { columns, columnsWith } from '../domain/columns.ts';
import type { ChainReader } from '../store/chain-reader.ts';
import type { ExportedRow, ExportedRows } from '../store/exported-rows.ts';
import type { Progress } from '../store/progress.ts';
import { startRepeated } from './read-pages.ts';

const name = 'export logs';
const everyMs = 5000;
/** Waits a second after new rows, so that one batch contains the events of that second. */
const gatherMs = 1000;
/**
 * The lease is longer than a run and the exporter's longest time-out (15 s), so that only one replica sends
 * at a time.
 */
const leaseMs = 30_000;
/** The milliseconds after which a run starts no further batch. */
const runMs = 10_000;
const batchRows = 500;

type ExportOptions = {
  readonly chain: Pick<ChainReader, 'partitions'>;
  readonly rows: ExportedRows;
  readonly progress: Progress;
  readonly receiver: LogSender;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Sends every row of the log to a collector as a log record, each at least once and in the order of its
 * partition. The position of each partition advances when the collector has accepted a batch. Reports the age
 * of the oldest row that was not accepted as a metric.
 */
export function startLogExport(options: ExportOptions): Pick<Loop, 'nudge' | 'stop'> {
  const { progress, receiver, clock, logger } = options;
  observeExport(clock, async () => (await pendingOf(options)).map(({ since }) => since));
  const work = async (stopping: AbortSignal) => {
    if (!(await progress.claim(name, leaseMs, new Date(clock.now())))) return;
    try {
      await exportRows(options, stopping);
    } finally {
      await progress.release(name);
    }
  };
  const repeated = startRepeated({ name, everyMs, gatherMs, logger, work });
  return {
    nudge: repeated.nudge,
    async stop() {
      await repeated.stop();
      await receiver.stop();
    },
  };
}

const pendingOf = async ({ chain, rows }: Pick<ExportOptions, 'chain' | 'rows'>) =>
  rows.pending(name, await chain.partitions());

async function exportRows(options: ExportOptions, stopping: AbortSignal): Promise<void> {
  const { rows, progress, receiver, clock } = options;
  const end = performance.now() + runMs;
  for (const { partition, place: start } of await pendingOf(options)) {
    let place = start;
    while (!stopping.aborted && performance.now() < end) {
      const batch = await rows.after(partition, place, batchRows);
      const last = batch.at(-1);
      if (last === undefined) break;
      const now = clock.now();
      await receiver.send(batch.map((row) => recordOf(row, now)));
      place = Number(last.sequence);
      await progress.record(`${name} ${partition}`, place, new Date(now));
    }
  }
}

const severities = { success: 'INFO', refused: 'WARN', failed: 'ERROR' } as const;

const exported = columnsWith('attribute');

function recordOf(row: ExportedRow, observedAt: number): LogRecord {
  const attributes = exported.flatMap((name) => {
    const { attribute, type } = columns[name];
    const value = type === 'bigint' ? Number(row[name]) : row[name];
    return value === null ? [] : [[attribute, value] as const];
  });
  return {
    eventName: row.type,
    at: row.time.getTime(),
    observedAt,
    traceId: row.trace_id,
    severity: severities[row.outcome as AuditOutcome],
    body: row.reason === null ? row.type : `${row.type}: ${row.reason}`,
    attributes: Object.fromEntries(attributes),
  };
}

/**
 * Observes, at each scrape, the age of the oldest event that was not exported, or 0 if every event was
 * exported. If the times of these events cannot be read, there is no value.
 */
function observeExport(clock: Clock, times: () => Promise<readonly Date[]>): void {
  meter()
    .createObservableGauge('clinical_launch.audit.export.oldest_age', {
      description: 'Age of the oldest event of the audit trail that the collector has not accepted',
      unit: 's',
    })
    .addCallback(async (result) => {
      const waiting = await times().catch(() => undefined);
      if (waiting === undefined) return;
      const now = clock.now();
      result.observe(Math.max(0, ...waiting.map((time) => now - time.getTime())) / 1000);
    });
}
