import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { recordSamples } from '../domain/record-samples.ts';
import {
  isAboutSamplesOf,
  isChange,
  type Recording,
  readSamplesEntry,
  type SamplesEntry,
  type SamplesFault,
} from '../domain/samples-entry.ts';
import { submissionIdOf } from '../domain/submission-id.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { isFromChosen, type SentWindow } from '../store/browsers.ts';
import { visibilityOf } from '../store/keys.ts';
import { insertSubmission, isSubmitted } from '../store/submissions.ts';
import { lockRequest, updateRequest } from '../store/test-requests.ts';
import type { Launch, WorkDependencies } from './launch.ts';
import { submittedEvent } from './submitted-event.ts';

export type SamplesSubmission = {
  readonly guid: string;
  /** The version of the request when the page was created. */
  readonly version: number;
  readonly entry: SamplesEntry;
  readonly sent: string;
  readonly recording: Recording;
  readonly sentFrom: SentWindow;
};

export type SamplesOutcome =
  /** The samples were stored, now or when the same form was sent before. */
  | { readonly outcome: 'submitted' }
  /** The form was not sent from the chosen window of its browser. Nothing was stored. */
  | { readonly outcome: 'locked' }
  /** Another user changed the request since the page was created. */
  | { readonly outcome: 'conflict'; readonly current: TestRequest }
  /** The form contains a sample that the request does not have. */
  | { readonly outcome: 'foreign' }
  | { readonly outcome: 'faulty'; readonly faults: readonly SamplesFault[] }
  /** The form contains only values that are already recorded. */
  | { readonly outcome: 'unchanged' }
  /** The request is Complete, and so immutable (OLTR: Request status). */
  | { readonly outcome: 'complete'; readonly current: TestRequest }
  /** The request does not exist, or this launch cannot see it. */
  | { readonly outcome: 'absent' };

/** Records samples of a request. When the last sample is recorded, the request becomes Complete. */
export function submitSamples(
  { database, sealer, timeZone }: Pick<WorkDependencies, 'database' | 'sealer' | 'timeZone'>,
  launch: Launch,
  { guid, version, entry, sent, recording, sentFrom }: SamplesSubmission,
): Promise<SamplesOutcome> {
  const { context } = launch;
  const { launchId } = context;
  const id = submissionIdOf({ launchId, guid, sent });
  return database.transaction().execute(async (tx): Promise<SamplesOutcome> => {
    // Locks the request. Of two concurrent amendments, the second waits and then reads the first.
    const current = await lockRequest(tx, guid, visibilityOf(context));
    if (current === undefined) return { outcome: 'absent' };
    if (await isSubmitted(tx, { id, guid, launchId })) return { outcome: 'submitted' };
    if (current.status === 'Complete') return { outcome: 'complete', current };
    if (!(await isFromChosen(tx, context, sentFrom))) return { outcome: 'locked' };
    if (current.version !== version) return { outcome: 'conflict', current };
    if (!isAboutSamplesOf(entry, current)) return { outcome: 'foreign' };
    const reading = readSamplesEntry(entry, current, recording);
    if ('faults' in reading) return { outcome: 'faulty', faults: reading.faults };
    if (!isChange(reading.records, current)) return { outcome: 'unchanged' };

    const recorded = recordSamples(current, reading.records, new Date(recording.now).toISOString());
    const request = { ...recorded, version: current.version + 1 };
    await updateRequest(tx, request, timeZone);
    await insertSubmission(tx, { id, request, context });
    await appendToOutbox(tx, [submittedEvent(request, launch, { sealer, step: 'samples' })]);
    return { outcome: 'submitted' };
  });
}
