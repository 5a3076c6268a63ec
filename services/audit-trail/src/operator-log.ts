import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Storage } from '@clinical-launch/storage/storage';
import { sealKeyFrom } from './config.ts';
import type { AuditKeys } from './domain/checkpoint.ts';
import { type AuditCriteria, createAuditSearch } from './store/audit-search.ts';
import { createAuditStore } from './store/audit-store.ts';
import { createChainReader, type Period } from './store/chain-reader.ts';
import { createCheckpoints } from './store/checkpoints.ts';
import { openSchema } from './store/tables.ts';
import { entriesOf } from './work/read-pages.ts';
import { type Verification, verifyAudit } from './work/verify-audit.ts';

/** The operations of the `ops audit` commands on the log. */
export type OperatorLog = {
  /** Verifies the log by its hashes and its checkpoints, including external copies of the checkpoints. */
  verify(options: {
    readonly period?: Period;
    readonly external?: readonly string[];
    readonly onPartition?: (partition: string) => void;
  }): Promise<Verification>;
  /** Returns the signed checkpoints, starting at `fromNumber`. */
  checkpoints(fromNumber: number): AsyncIterable<string>;
  /** Returns all matching entries, newest first. */
  entries(criteria: AuditCriteria): ReturnType<typeof entriesOf>;
  /** Records an export before it starts. @throws ConfigurationError if there are only public keys */
  recordExport(data: EventData<'audit.searched.v1'>, now: Date): Promise<void>;
};

/** Opens the log for an operator's command. Requires an up-to-date schema. */
export async function openOperatorLog(storage: Storage, keys: AuditKeys): Promise<OperatorLog> {
  const database = await openSchema(storage);
  const checkpoints = createCheckpoints(database, keys);
  const search = createAuditSearch(database);
  return {
    verify: (options) => verifyAudit({ ...options, chain: createChainReader(database), checkpoints, keys }),
    async *checkpoints(fromNumber) {
      for await (const page of checkpoints.between({ first: fromNumber, last: Number.MAX_SAFE_INTEGER })) {
        for (const { jws } of page) yield jws;
      }
    },
    entries: (criteria) => entriesOf(search, { criteria }),
    async recordExport(data, now) {
      const correlationId = crypto.randomUUID();
      const traceparent = `00-${correlationId.replaceAll('-', '')}-${'1'.repeat(16)}-00`;
      const origin = { source: '/audit-trail', correlationId, traceparent, now };
      const store = createAuditStore({ database, sealKey: sealKeyFrom(keys) });
      await store.append([createEvent('audit.searched.v1', origin, data)]);
    },
  };
}
