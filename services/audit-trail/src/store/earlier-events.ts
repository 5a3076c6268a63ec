import type { CloudEvent } from '@clinical-launch/contracts';
import { createProgress } from './progress.ts';
import type { AuditDatabase } from './tables.ts';

/** The events that releases before the hash chain stored. */
export type EarlierEvents = {
  /** Returns the next events in order of arrival. */
  after(place: number, limit: number): Promise<readonly EarlierEvent[]>;
  ofCorrelation(correlationId: string): Promise<readonly EarlierEvent[]>;
  /** Returns the place up to which they were copied. */
  copiedTo(): Promise<number>;
  recordCopied(place: number, at: Date): Promise<void>;
};

export type EarlierEvent = { readonly sequence: string; readonly event: CloudEvent };

const progressName = 'copied-events';

/** Creates the reader of the events of earlier releases. */
export function createEarlierEvents(database: AuditDatabase): EarlierEvents {
  const progress = createProgress(database);
  const events = database.selectFrom('event').select(['sequence', 'event']).orderBy('sequence');
  return {
    after: (place, limit) => events.where('sequence', '>', String(place)).limit(limit).execute(),
    ofCorrelation: (correlationId) => events.where('correlation_id', '=', correlationId).execute(),
    async copiedTo() {
      return (await progress.find(progressName))?.place ?? 0;
    },
    recordCopied: (place, at) => progress.record(progressName, place, at),
  };
}
