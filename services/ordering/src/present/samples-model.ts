import { isDeepStrictEqual } from 'node:util';
import type { WriteTime } from '@clinical-launch/contracts/time';
import type { Catalogue } from '../domain/catalogue.ts';
import { samplesInDrawOrder } from '../domain/collection.ts';
import { maxQuantity } from '../domain/record-samples.ts';
import {
  emptyEntry,
  recordedEntry,
  type SampleEntry,
  type SamplesEntry,
  type SamplesFault,
} from '../domain/samples-entry.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import { writtenAnswer } from './written-answer.ts';

type Presenting = {
  readonly catalogue: Catalogue;
  readonly timeZone: string;
  readonly write: WriteTime;
};

type DrawnSample = ReturnType<typeof samplesInDrawOrder>[number];

/** Presents the page for recording samples: the recorded values, and the form with its typed fields. */
export function presentSamples(
  { request, entry, faults }: { request: TestRequest; entry: SamplesEntry; faults: readonly SamplesFault[] },
  presenting: Presenting,
) {
  const drawn = samplesInDrawOrder(request, presenting.catalogue);
  const samples = drawn.map((each) =>
    presentSample(each, {
      name: nameOf(each, drawn),
      typed: entry.samples.get(each.sample.id),
      faults,
      presenting,
    }),
  );
  const missing = samples.filter(({ recorded }) => recorded === undefined);
  return {
    order: request,
    answers: request.answers.map(writtenAnswer),
    samples,
    missing,
    shared: entry.shared,
    faultOf: faultTexts(faults, undefined),
    errorList: faults.map((fault) => ({ text: textOf(fault, drawn), href: placeOf(fault, drawn) })),
    /** Whether every sample is ticked, so that the request becomes Complete if the form is sent. */
    isComplete: samples.every(({ isTaken }) => isTaken),
    maxQuantity,
  };
}

function presentSample(
  { sample, batch, container, tests }: DrawnSample,
  {
    name,
    typed,
    faults,
    presenting: { catalogue, timeZone, write },
  }: {
    name: string;
    typed: SampleEntry | undefined;
    faults: readonly SamplesFault[];
    presenting: Presenting;
  },
) {
  const { id, description, completedAt, collectedBy } = sample;
  const faultOf = faultTexts(faults, id);
  const own = typed?.own;
  const recorded = recordedEntry(sample, timeZone) ?? emptyEntry;
  const isOwn = own !== undefined && !isDeepStrictEqual(own, recorded);
  const notes = tests.flatMap((test) => catalogue.orderables.get(codeOf(test))?.note ?? []);
  return {
    id,
    name,
    description,
    colour: container?.colour ?? 'white',
    tests,
    notes: [...new Set(notes)],
    batch,
    recorded: completedAt === undefined ? undefined : { at: write(completedAt), by: collectedBy },
    isTaken: typed?.isTaken ?? completedAt !== undefined,
    own,
    isOpen: isOwn || faultOf.by !== undefined || faultOf.date !== undefined || faultOf.time !== undefined,
    quantity: typed?.quantity ?? String(sample.quantity ?? 1),
    faultOf,
  };
}

/**
 * Returns the name of a sample for messages and lists. If two laboratories need the same kind of tube, the
 * name contains the laboratory.
 */
function nameOf({ sample: { description }, batch }: DrawnSample, drawn: readonly DrawnSample[]): string {
  const alike = drawn.filter(({ sample }) => sample.description === description);
  return alike.length === 1 ? description : `${description} for ${batch.provider.name}`;
}

/** Returns the error messages of one sample, or of the shared fields, by the name of the field. */
const faultTexts = (
  faults: readonly SamplesFault[],
  of: string | undefined,
): Partial<Record<SamplesFault['field'], string>> =>
  Object.fromEntries(
    faults.flatMap(({ field, sample, message }) => (sample === of ? [[field, message]] : [])),
  );

function textOf({ sample, message }: SamplesFault, drawn: readonly DrawnSample[]): string {
  const about = drawn.find((each) => each.sample.id === sample);
  return about === undefined ? message : `${nameOf(about, drawn)}: ${message}`;
}

/** Returns the fragment of the field with an error: `#day-S3`. */
function placeOf({ field, sample }: SamplesFault, drawn: readonly DrawnSample[]): string {
  if (field === 'taken') return `#taken-${drawn[0]?.sample.id}`;
  const name = field === 'date' ? 'day' : field;
  return sample === undefined ? `#${name}` : `#${name}-${sample}`;
}
