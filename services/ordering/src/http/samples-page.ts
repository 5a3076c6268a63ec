import { randomUUID } from 'node:crypto';
import { guidForm } from '@clinical-launch/contracts/schema';
import { redirect } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { maxCollectorLength } from '../domain/collection-entry.ts';
import { beginningOf, type CollectionEntry } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import {
  isAboutSamplesOf,
  type Recording,
  type SampleEntry,
  type SamplesEntry,
  type SamplesFault,
  samplesEntryOf,
  tickAll,
  withTyped,
} from '../domain/samples-entry.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { faultyForm, requestComplete, requestNotFound } from '../errors.ts';
import { resultPage } from '../present/addresses.ts';
import { presentSamples } from '../present/samples-model.ts';
import { historyOf } from '../work/find-requests.ts';
import { submitSamples } from '../work/submit-samples.ts';
import type { Dependencies } from './dependencies.ts';
import { type RequestVisit, readRequest } from './page-guards.ts';
import { readLaunchForm } from './visit.ts';
import { enterWindowOf, readSentWindow, refuseLocked, showLocked, toPath } from './window.ts';

/**
 * Shows the samples to collect and the recorded samples: `GET /oltr/{launchId}/requests/{guid}/samples`. The
 * handler throws ServiceError 409 if the request is Complete.
 */
export function showSamples(dependencies: Dependencies): Handler<RequestVisit> {
  return async (visit) => {
    const { about } = visit;
    if (about.status === 'Complete') throw requestComplete(about);
    const entry = samplesEntryOf(about, recordingOf(visit, dependencies));
    await showForm(visit, dependencies, { request: about, entry });
  };
}

/**
 * Stores the collected samples, ticks all samples, or unlocks the window: `POST` to the same URL. If samples
 * were stored, redirects to the result page. Answers 400 for invalid or unchanged fields, and 409 if another
 * user has changed the request or the window is locked. The handler throws ServiceError 409 if the request is
 * Complete, and 400 for a form that no page sends.
 */
export function postSamples(dependencies: Dependencies): Handler<RequestVisit> {
  return async (visit) => {
    const { about, response, home } = visit;
    const fields = await readLaunchForm(visit);
    const form = readSamplesForm(fields);
    if (form.action !== 'record') return showAgain(visit, dependencies, { form, fields });
    const { version, entry } = form;
    const recording = recordingOf(visit, dependencies);
    const sentFrom = readSentWindow(visit, fields, dependencies);
    const sent = { guid: about.guid, version, entry, sent: fields.toString(), recording, sentFrom };
    const done = await submitSamples(dependencies, visit, sent);
    switch (done.outcome) {
      case 'submitted':
        dependencies.nudge();
        return redirect(response, resultPage(home, about));
      case 'locked':
        return refuseLocked(visit, dependencies, { to: toPath(visit), fields });
      case 'conflict':
        return showConflict(visit, dependencies, { form, request: done.current });
      case 'faulty':
        return showFaults(visit, dependencies, { entry, faults: done.faults });
      case 'unchanged':
        return showFaults(visit, dependencies, {
          entry,
          faults: [{ field: 'taken', message: nothingNew(entry) }],
        });
      case 'foreign':
        throw faultyForm();
      case 'complete':
        throw requestComplete(done.current);
      case 'absent':
        throw requestNotFound();
    }
  };
}

async function showFaults(
  visit: RequestVisit,
  dependencies: Dependencies,
  page: Pick<SamplesPage, 'entry' | 'faults'>,
): Promise<void> {
  visit.response.statusCode = 400;
  await showForm(visit, dependencies, { ...page, request: visit.about });
}

/**
 * Handles the button that ticks every sample, and the button that unlocks a window. Shows the page with the
 * typed fields, and stores no samples.
 */
async function showAgain(
  visit: RequestVisit,
  dependencies: Dependencies,
  { form, fields }: { readonly form: SamplesForm; readonly fields: URLSearchParams },
): Promise<void> {
  const { about } = visit;
  const isChoice = form.action === 'work-here';
  const window = await enterWindowOf(visit, dependencies, { isChoice });
  if (!window.isChosen) return showLocked(visit, dependencies, { window, to: toPath(visit), fields });
  if (about.status === 'Complete') throw requestComplete(about);
  if (about.version !== form.version) return showConflict(visit, dependencies, { form, request: about });
  if (!isAboutSamplesOf(form.entry, about)) throw faultyForm();
  const entry = isChoice ? form.entry : tickAll(form.entry, about, recordingOf(visit, dependencies));
  await showForm({ ...visit, window }, dependencies, { request: about, entry });
}

/**
 * Shows the page after another user has changed the request. The page names that user and the time. Collected
 * samples have their recorded values. Other samples have the typed fields.
 */
async function showConflict(
  visit: RequestVisit,
  dependencies: Dependencies,
  { form, request }: { form: SamplesForm; request: TestRequest },
): Promise<void> {
  const latest = (await historyOf(dependencies, request)).at(-1);
  visit.response.statusCode = 409;
  await showForm(visit, dependencies, {
    request,
    entry: withTyped(form.entry, request, recordingOf(visit, dependencies)),
    conflict: latest && { by: fullName(latest.author.name), at: dependencies.write(latest.at) },
  });
}

type SamplesPage = {
  readonly request: TestRequest;
  readonly entry: SamplesEntry;
  readonly faults?: readonly SamplesFault[];
  readonly conflict?: { readonly by: string; readonly at: string } | undefined;
};

/** Shows the page. Stores an audit event, because the page shows the request even after a refused form. */
async function showForm(
  visit: RequestVisit,
  dependencies: Dependencies,
  { conflict, faults = [], ...page }: SamplesPage,
): Promise<void> {
  const { timeZone, write, show } = dependencies;
  const window = visit.window ?? (await enterWindowOf(visit, dependencies));
  await readRequest(visit, page.request, dependencies);
  show({ ...visit, window }, 'samples.njk', {
    ...presentSamples({ ...page, faults }, { catalogue: visit.catalogue, timeZone, write }),
    about: page.request,
    isList: visit.rule.opens === 'list',
    submissionId: randomUUID(),
    maxCollectorLength,
    conflict,
  });
}

const recordingOf = ({ context }: RequestVisit, { clock, timeZone }: Dependencies): Recording => ({
  now: clock.now(),
  timeZone,
  author: beginningOf(fullName(context.request.author.name), maxCollectorLength),
});

const nothingNew = ({ samples }: SamplesEntry) =>
  [...samples.values()].some(({ isTaken }) => isTaken)
    ? 'These samples are already recorded. Tick the samples that have been collected since, or correct one'
    : 'Tick the samples that have been collected';

type SamplesForm = {
  readonly action: 'record' | 'all-now' | 'work-here';
  readonly version: number;
  readonly entry: SamplesEntry;
};

const sampleField = /^(?:taken|by|day|month|year|time|quantity):(S\d{1,6})$/;

/**
 * Reads the form for recording samples. `by`, `day`, `month`, `year` and `time` are the values for all
 * samples. The same names with `:{sampleId}` are the values for one sample, as are `taken:{sampleId}=yes` and
 * `quantity:{sampleId}`.
 * @throws ServiceError 400 for a form that no page sends, such as a repeated field, an invalid sample id, or
 * a missing version
 */
function readSamplesForm(form: URLSearchParams): SamplesForm {
  const names = [...form.keys()];
  // Copies the fields to a Map, because URLSearchParams scans all fields for each look-up.
  const values = new Map(form);
  const field = (name: string) => values.get(name) ?? '';
  const action = form.get('action') ?? 'record';
  const isOurs =
    new Set(names).size === names.length &&
    names.every((name) => !name.includes(':') || sampleField.test(name)) &&
    guidForm.test(field('submission')) &&
    /^[1-9]\d{0,8}$/.test(field('version'));
  const isAction = action === 'record' || action === 'all-now' || action === 'work-here';
  if (!isOurs || !isAction) throw faultyForm();
  const ids = new Set(names.flatMap((name) => sampleField.exec(name)?.[1] ?? []));
  const samples = [...ids].map((id): [string, SampleEntry] => [
    id,
    {
      isTaken: field(`taken:${id}`) === 'yes',
      own: readEntry(field, `:${id}`),
      quantity: field(`quantity:${id}`),
    },
  ]);
  return {
    action,
    version: Number(field('version')),
    entry: { shared: readEntry(field, ''), samples: new Map(samples) },
  };
}

const readEntry = (field: (name: string) => string, of: string): CollectionEntry => ({
  by: field(`by${of}`),
  date: { day: field(`day${of}`), month: field(`month${of}`), year: field(`year${of}`) },
  time: field(`time${of}`),
});
