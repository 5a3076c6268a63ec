import { openLogSender } from '@clinical-launch/process/log-records';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { type AuditTrailConfig, sealKeyFrom } from './config.ts';
import { createAuditStore } from './store/audit-store.ts';
import { createChainReader } from './store/chain-reader.ts';
import { createCheckpoints } from './store/checkpoints.ts';
import { createExportedRows } from './store/exported-rows.ts';
import { createProgress } from './store/progress.ts';
import type { AuditDatabase } from './store/tables.ts';
import { startLogExport } from './work/export-logs.ts';
import { startPartitions } from './work/maintain-partitions.ts';
import { startCheckpoints } from './work/sign-checkpoints.ts';
import { startVerification } from './work/verify-regularly.ts';

/** Opens the log for new events, and starts its partitions, checkpoints, verification and export. */
export function keepLog(
  config: AuditTrailConfig,
  { database, clock, logger }: { database: AuditDatabase; clock: Clock; logger: Logger },
) {
  const { keys } = config;
  const options = {
    ...config,
    database,
    clock,
    logger,
    chain: createChainReader(database),
    checkpoints: createCheckpoints(database, keys),
    progress: createProgress(database),
  };
  const signer = startCheckpoints(options);
  const partitions = startPartitions(options);
  const verification = startVerification(options);
  const receiver = openLogSender(config.telemetry, 'audit-trail');
  const logExport = receiver && startLogExport({ ...options, rows: createExportedRows(database), receiver });
  const store = createAuditStore({
    database,
    sealKey: sealKeyFrom(keys),
    onStored(stored) {
      signer.onStored(stored);
      logExport?.nudge();
    },
  });
  return {
    store,
    async stop() {
      await partitions.stop();
      await verification.stop();
      await logExport?.stop();
      await signer.stop();
    },
  };
}
