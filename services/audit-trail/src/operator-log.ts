import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Storage } from '@clinical-launch/storage/storage';
import { sealKeyFrom } from './config.ts';
import type { AuditKeys } from './domain/checkpoint.ts';
import { type AuditCriteria, createAuditSearch } from './store/audit-search.ts';
import { createAuditStore } from './store/audit-store.ts';
import { createChainReader } from './store/chain-reader.ts';
import { createCheckpoints } from './store/checkpoints.ts';
import { openSchema } from './store/tables.ts';
import { entriesOf } from './work/read-pages.ts';
import { type VerifyOptions, verifyAudit } from './work/verify-audit.ts';

export type OperatorLog = Awaited<ReturnType<typeof openOperatorLog>>;

/** Opens the log for an operator's command. Requires an up-to-date schema. */
export async function openOperatorLog(storage: Storage, keys: AuditKeys) {
  const database = await openSchema(storage);
  const checkpoints = createCheckpoints(database, keys);
  const search = createAuditSearch(database);
  return {
    /** Verifies the log by its hashes and its checkpoints, including external copies of the checkpoints. */
    verify: (options: Pick<VerifyOptions, 'period' | 'external' | 'onPartition'>) =>
      verifyAudit({ ...options, chain: createChainReader(database), checkpoints, keys }),
    /** Returns the signed checkpoints, starting at `fromNumber`. */
    async *checkpoints(fromNumber: number): AsyncGenerator<string> {
      for await (const page of checkpoints.between({ first: fromNumber, last: Number.MAX_SAFE_INTEGER })) {
        for (const { jws } of page) yield jws;
      }
    },
    /** Returns all matching entries, newest first. */
    entries: (criteria: AuditCriteria) => entriesOf(search, { criteria }),
    /** Records an export before it starts. @throws ConfigurationError if there are only public keys */
    async recordExport(data: EventData<'audit.searched.v1'>, now: Date): Promise<void> {
      const correlationId = crypto.randomUUID();
      const traceparent = `00-${correlationId.replaceAll('-', '')}-${'1'.repeat(16)}-00`;
      const origin = { source: '/audit-trail', correlationId, traceparent, now };
      const store = createAuditStore({ database, sealKey: sealKeyFrom(keys) });
      await store.append([createEvent('audit.searched.v1', origin, data)]);
    },
  };
}
