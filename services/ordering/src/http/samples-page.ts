import { randomUUID } from 'node:crypto';
import type { Catalogue } from '../domain/catalogue.ts';
import { maxCollectorLength } from '../domain/collection-entry.ts';
import { beginningOf } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import {
  isAboutSamplesOf,
  keepTyped,
  type Recording,
  type SamplesEntry,
  type SamplesFault,
  samplesEntryOf,
  tickAll,
} from '../domain/samples-entry.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { faultyForm, requestComplete, requestNotFound } from '../errors.ts';
import { resultPage } from '../present/addresses.ts';
import { presentSamples } from '../present/samples-model.ts';
import type { WriteTime } from '../present/written-time.ts';
import { submissionsTo } from '../store/submissions.ts';
import type { WorkDependencies } from '../work/dependencies.ts';
import { submitSamples } from '../work/submit-samples.ts';
import { type RequestHandler, recordView, type ViewNeeds } from './reading.ts';
import { readSamplesForm, type SamplesForm } from './samples-form.ts';
import type { Show } from './show.ts';
import { readLaunchForm, type Visit } from './visit.ts';

type RecordNeeds = WorkDependencies &
  ViewNeeds & {
    readonly catalogue: Catalogue;
    readonly show: Show;
    readonly write: WriteTime;
  };

/**
 * `GET /oltr/{launchId}/requests/{guid}/samples`: the samples to take and those that are recorded.
 * The handler throws ServiceError 409 when the request is Complete.
 */
export function showSamples(needs: RecordNeeds): RequestHandler {
  return async (visit, request) => {
    if (request.status === 'Complete') throw requestComplete();
    await showForm(visit, needs, { request, entry: samplesEntryOf(request, recordingOf(visit, needs)) });
  };
}

/**
 * `POST` of it: stores what was taken, or ticks everything. Answers with a redirect to the result; with the page
 * again when nothing was stored: 400 for what was typed wrong, 409 when somebody else changed the request since. The
 * handler throws ServiceError 409 when the request is Complete, 400 for a form that no page of ours sends.
 */
export function postSamples(needs: RecordNeeds): RequestHandler {
  return async (visit, seen) => {
    const fields = await readLaunchForm(visit);
    const form = readSamplesForm(fields);
    if (form.action === 'all-now') return showTicked(visit, needs, { form, seen });
    const done = await submitSamples(needs, visit, {
      guid: seen.guid,
      version: form.version,
      entry: form.entry,
      sent: fields.toString(),
      recording: recordingOf(visit, needs),
    });
    switch (done.outcome) {
      case 'submitted':
        needs.nudge();
        return visit.response.redirect(303, resultPage(visit.home, seen));
      case 'conflict':
        return showConflict(visit, needs, { form, request: done.current });
      case 'faulty':
        return showFaults(visit, needs, { form, seen, faults: done.faults });
      case 'unchanged': {
        const faults: SamplesFault[] = [{ field: 'taken', message: nothingNew(form.entry) }];
        return showFaults(visit, needs, { form, seen, faults });
      }
      case 'foreign':
        throw faultyForm();
      case 'complete':
        throw requestComplete();
      case 'absent':
        throw requestNotFound();
    }
  };
}

/** The page with what was typed, and why it was not stored. */
async function showFaults(
  visit: Visit,
  needs: RecordNeeds,
  { form, seen, faults }: { form: SamplesForm; seen: TestRequest; faults: readonly SamplesFault[] },
): Promise<void> {
  visit.response.status(400);
  await showForm(visit, needs, { request: seen, entry: form.entry, faults });
}

/** The button that works without a script: nothing is stored, the page comes back with every box ticked. */
async function showTicked(
  visit: Visit,
  needs: RecordNeeds,
  { form, seen }: { form: SamplesForm; seen: TestRequest },
): Promise<void> {
  if (seen.status === 'Complete') throw requestComplete();
  if (seen.version !== form.version) return showConflict(visit, needs, { form, request: seen });
  if (!isAboutSamplesOf(form.entry, seen)) throw faultyForm();
  await showForm(visit, needs, {
    request: seen,
    entry: tickAll(form.entry, seen, recordingOf(visit, needs)),
  });
}

/** What is stored now, who stored it and when; with what was typed for samples that are still to be taken. */
async function showConflict(
  visit: Visit,
  needs: RecordNeeds,
  { form, request }: { form: SamplesForm; request: TestRequest },
): Promise<void> {
  const latest = (await submissionsTo(needs.database, request.guid)).at(-1);
  visit.response.status(409);
  await showForm(visit, needs, {
    request,
    entry: keepTyped(form.entry, request, recordingOf(visit, needs)),
    conflict: latest && { by: fullName(latest.author.name), at: needs.write(latest.at) },
  });
}

type SamplesPage = {
  readonly request: TestRequest;
  readonly entry: SamplesEntry;
  readonly faults?: readonly SamplesFault[];
  readonly conflict?: { readonly by: string; readonly at: string } | undefined;
};

/** The page shows the request, whatever asked for it: a form that stores nothing is a way of reading too. */
async function showForm(
  visit: Visit,
  { show, ...needs }: RecordNeeds,
  { conflict, faults = [], ...page }: SamplesPage,
): Promise<void> {
  await recordView(visit, page.request, needs);
  show(visit, 'samples.njk', {
    ...presentSamples({ ...page, faults }, needs),
    about: page.request,
    isList: visit.rule.opens === 'list',
    submissionId: randomUUID(),
    maxCollectorLength,
    conflict,
  });
}

const recordingOf = ({ context }: Visit, { clock, timeZone }: RecordNeeds): Recording => ({
  now: clock.now(),
  timeZone,
  author: beginningOf(fullName(context.request.author.name), maxCollectorLength),
});

const nothingNew = ({ samples }: SamplesEntry) =>
  [...samples.values()].some(({ isTaken }) => isTaken)
    ? 'This is what is recorded already: tick the samples that were taken since, or correct one'
    : 'Tick the samples that were taken';
