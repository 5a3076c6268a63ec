import type { Logger } from '@clinical-launch/runtime/logger';
import { type Loop, type LoopOptions, startLoop } from '@clinical-launch/runtime/loop';
import type { AuditCursor, AuditEntry } from '../domain/audit-entry.ts';
import type { AuditCriteria, SearchAudit } from '../store/audit-search.ts';

const largestPage = 1000;

type PagesOptions = {
  readonly criteria: AuditCriteria;
  readonly after?: AuditCursor | undefined;
  readonly limit?: number | undefined;
};

/** Reads all pages of a search, up to `limit` entries. */
export async function* pagesOf(
  search: SearchAudit,
  { criteria, after, limit }: PagesOptions,
): AsyncGenerator<readonly AuditEntry[]> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (let cursor = after; left > 0; ) {
    const { entries, next } = await search(criteria, { after: cursor, limit: Math.min(left, largestPage) });
    yield entries;
    left -= entries.length;
    if (next === undefined) return;
    cursor = next;
  }
}

/** Reads all entries of a search, up to `limit`. */
export async function* entriesOf(search: SearchAudit, options: PagesOptions): AsyncGenerator<AuditEntry> {
  for await (const entries of pagesOf(search, options)) yield* entries;
}

type RepeatedOptions = Pick<LoopOptions, 'work' | 'everyMs' | 'gatherMs'> & {
  readonly name: string;
  readonly logger: Logger;
};

/**
 * Starts background work, which runs immediately and then at intervals. Logs only the first of several
 * consecutive failures.
 */
export const startRepeated = ({ name, logger, ...options }: RepeatedOptions): Loop =>
  startLoop({
    ...options,
    ref: false,
    onFailure(error, failures) {
      if (failures === 1)
        logger.error({ err: error, work: name }, 'background work of the audit trail failed');
    },
  });
