import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Loop } from '@clinical-launch/runtime/loop';
import { meter } from '@clinical-launch/runtime/metrics';
import { sentenceOf } from '../domain/audit-fault.ts';
import { type AuditKeys, nameOf, readCheckpoint } from '../domain/checkpoint.ts';
import type { ChainReader } from '../store/chain-reader.ts';
import type { Checkpoints } from '../store/checkpoints.ts';
import type { Progress } from '../store/progress.ts';
import { startRepeated } from './read-pages.ts';
import { type Verification, type VerifiedPosition, verifyAudit } from './verify-audit.ts';

type VerifyOptions = {
  readonly chain: ChainReader;
  readonly checkpoints: Checkpoints;
  readonly keys: AuditKeys;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly logger: Logger;
};

const pollMs = 60_000;
/** Milliseconds between verifications of new rows, so that a changed new row is found within the hour. */
const newEveryMs = 3_600_000;
/** Milliseconds between verifications of all rows: once a day, because they read the whole log. */
const allEveryMs = 24 * 3_600_000;
const loggedFaults = 20;

/**
 * Verifies new rows every hour and all rows every day, on one of the replicas. Logs faults as errors, and
 * reports the number of faults and the time of the last verification as metrics.
 */
export function startVerification(options: VerifyOptions): Pick<Loop, 'stop'> {
  const { progress, clock, logger } = options;
  const stopping = new AbortController();
  const measured = observeVerification();
  const verify = async () => {
    const now = new Date(clock.now());
    if (await progress.claim('verify-all', allEveryMs, now)) {
      const found = await verifyAudit({ ...options, signal: stopping.signal });
      await record(options, 'verify-all', found, 0);
      await progress.record('verify-new', 0, new Date(clock.now()));
    } else if (await progress.claim('verify-new', newEveryMs, now)) {
      const since = await positionBefore(options, new Date(now.getTime() - 2 * newEveryMs));
      const found = await verifyAudit({ ...options, since, signal: stopping.signal });
      // Adds the faults to those found earlier, so that the metric keeps them until all rows are verified.
      await record(options, 'verify-new', found, (await progress.find('verify-new'))?.place ?? 0);
    }
    await measured.read(progress);
  };
  const work = () =>
    verify().catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
    });
  const repeated = startRepeated({ name: 'verify the audit trail', everyMs: pollMs, logger, work });
  return {
    async stop() {
      stopping.abort();
      await repeated.stop();
    },
  };
}

async function record(
  { progress, clock, logger }: VerifyOptions,
  name: string,
  { faults, rows }: Verification,
  known: number,
): Promise<void> {
  for (const fault of faults.slice(0, loggedFaults)) {
    logger.error({ fault }, `the audit trail differs from what was written: ${sentenceOf(fault)}`);
  }
  logger.info({ rows, faults: faults.length }, 'the audit trail was verified');
  await progress.record(name, known + faults.length, new Date(clock.now()));
}

/**
 * Returns the position of the last checkpoints before a time. The verification continues from this position.
 */
async function positionBefore({ checkpoints, keys }: VerifyOptions, time: Date): Promise<VerifiedPosition> {
  const ends: [string, { sequence: number; hash: Buffer }][] = [];
  let last = { number: 0, name: '' };
  for (const { number, jws } of await checkpoints.latest(time)) {
    const checkpoint = await readCheckpoint(jws, keys);
    if (checkpoint === undefined || new Date(checkpoint.time) > time) continue;
    const { partition, sequence, hash } = checkpoint;
    ends.push([partition, { sequence, hash: Buffer.from(hash, 'base64url') }]);
    if (number > last.number) last = { number, name: nameOf(jws) };
  }
  return { ends: new Map(ends), checkpoint: last };
}

/** Observes the results of the last verifications, whichever replica ran them. */
function observeVerification() {
  let faults: number | undefined;
  let verifiedAt: number | undefined;
  meter()
    .createObservableGauge('clinical_launch.audit.chain.faults', {
      description: 'Faults that the last verification of the audit trail found',
      unit: '{fault}',
    })
    .addCallback((result) => {
      if (faults !== undefined) result.observe(faults);
    });
  meter()
    .createObservableGauge('clinical_launch.audit.verified_time', {
      description: 'When the audit trail was last verified, in seconds since 1970',
      unit: 's',
    })
    .addCallback((result) => {
      if (verifiedAt !== undefined) result.observe(verifiedAt);
    });
  return {
    async read(progress: Progress) {
      const [all, fresh] = [await progress.find('verify-all'), await progress.find('verify-new')];
      if (all === undefined) return;
      faults = all.place + (fresh?.place ?? 0);
      verifiedAt = Math.max(all.at.getTime(), fresh?.at.getTime() ?? 0) / 1000;
    },
  };
}
