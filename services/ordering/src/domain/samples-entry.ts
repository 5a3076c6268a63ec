import { isDeepStrictEqual } from 'node:util';
import {
  type CollectionFault,
  collectionNow,
  readCollectionEntry,
  writeCollectionEntry,
} from './collection-entry.ts';
import type { CollectionEntry } from './draft.ts';
import { maxQuantity, type SampleRecord, samplesOf } from './record-samples.ts';
import type { RequestedSample, TestRequest } from './test-request.ts';

/** The typed fields of one sample. */
export type SampleEntry = {
  readonly isTaken: boolean;
  /** The person, date and time of this sample. An empty field has the value that all samples share. */
  readonly own: CollectionEntry;
  readonly quantity: string;
};

/** The typed form for the samples of a request. Samples that the form does not contain stay unchanged. */
export type SamplesEntry = {
  readonly shared: CollectionEntry;
  readonly samples: ReadonlyMap<string, SampleEntry>;
};

export type SamplesFault = {
  readonly field: CollectionFault['field'] | 'quantity' | 'taken';
  /** The id of the sample; absent for a field that all samples share. */
  readonly sample?: string;
  readonly message: string;
};

export type SamplesReading =
  | { readonly records: readonly SampleRecord[] }
  | { readonly faults: readonly SamplesFault[] };

/**
 * `now`: milliseconds since 1970; `timeZone`: IANA name; `author`: the person who collected a sample unless
 * the form names another person.
 */
export type Recording = { readonly now: number; readonly timeZone: string; readonly author: string };

/** The empty fields of a sample that has no person, date or time of its own. */
export const emptyEntry: CollectionEntry = { by: '', date: { day: '', month: '', year: '' }, time: '' };

/**
 * Returns the initial form. It contains the recorded values of collected samples. The author and the current
 * time are the values for all other samples.
 */
export function samplesEntryOf(
  request: Pick<TestRequest, 'batches'>,
  { now, timeZone, author }: Recording,
): SamplesEntry {
  const samples = samplesOf(request).map(({ sample }): [string, SampleEntry] => [
    sample.id,
    {
      isTaken: sample.completedAt !== undefined,
      own: recordedEntry(sample, timeZone) ?? emptyEntry,
      quantity: String(quantityOf(sample)),
    },
  ]);
  return { shared: collectionNow(now, author, timeZone), samples: new Map(samples) };
}

/**
 * Returns the form with every sample ticked. Keeps the person whom all samples share, and sets the shared
 * time to the current time.
 */
export function tickAll(entry: SamplesEntry, request: TestRequest, recording: Recording): SamplesEntry {
  const { shared, samples } = samplesEntryOf(request, recording);
  const ticked = [...samples].map(([id, fresh]): [string, SampleEntry] => [
    id,
    fresh.isTaken ? (entry.samples.get(id) ?? fresh) : { ...fresh, ...entry.samples.get(id), isTaken: true },
  ]);
  const by = entry.shared.by.trim() === '' ? shared.by : entry.shared.by;
  return { shared: { ...shared, by }, samples: new Map(ticked) };
}

/**
 * Returns the form for a request that another user has changed since the page was created. Collected samples
 * have their recorded values. Other samples have the typed fields.
 */
export function withTyped(entry: SamplesEntry, request: TestRequest, recording: Recording): SamplesEntry {
  const stored = samplesEntryOf(request, recording).samples;
  const typed = [...stored].map(([id, fresh]): [string, SampleEntry] => [
    id,
    fresh.isTaken ? fresh : (entry.samples.get(id) ?? fresh),
  ]);
  return { shared: entry.shared, samples: new Map(typed) };
}

/** Returns whether a form contains only samples that live tests of the request need. */
export function isAboutSamplesOf({ samples }: SamplesEntry, request: Pick<TestRequest, 'batches'>): boolean {
  const known = new Set(samplesOf(request).map(({ sample }) => sample.id));
  return [...samples.keys()].every((id) => known.has(id));
}

/** Reads the typed fields. Returns a record for each sample in the form, or all errors at once. */
export function readSamplesEntry(
  { shared, samples }: SamplesEntry,
  request: Pick<TestRequest, 'batches'>,
  { now, timeZone }: Omit<Recording, 'author'>,
): SamplesReading {
  const readings = samplesOf(request).flatMap(({ sample }) => {
    const typed = samples.get(sample.id);
    return typed === undefined ? [] : [readSample(sample, { typed, shared, now, timeZone })];
  });
  const faults = readings.flatMap((reading) => ('faults' in reading ? reading.faults : []));
  if (faults.length > 0) return { faults: withoutRepeats(faults) };
  return { records: readings.flatMap((reading) => ('record' in reading ? [reading.record] : [])) };
}

/** Returns whether records differ from the stored samples. */
export function isChange(records: readonly SampleRecord[], request: Pick<TestRequest, 'batches'>): boolean {
  const stored = new Map(samplesOf(request).map(({ sample }) => [sample.id, sample]));
  return records.some(({ sample: id, collected, quantity }) => {
    const sample = stored.get(id);
    return (
      sample !== undefined &&
      (sample.completedAt !== collected?.at ||
        sample.collectedBy !== collected?.by ||
        quantityOf(sample) !== quantity)
    );
  });
}

function readSample(
  sample: RequestedSample,
  {
    typed,
    shared,
    ...moment
  }: { typed: SampleEntry; shared: CollectionEntry; now: number; timeZone: string },
): { readonly record: SampleRecord } | { readonly faults: readonly SamplesFault[] } {
  const { id } = sample;
  const quantity = typed.quantity.trim() === '' ? quantityOf(sample) : readQuantity(typed.quantity);
  const faults: SamplesFault[] =
    quantity === undefined
      ? [{ field: 'quantity', sample: id, message: `The quantity must be a number from 1 to ${maxQuantity}` }]
      : [];
  const taken = typed.isTaken ? readCollection(sample, { own: typed.own, shared, ...moment }) : {};
  if ('faults' in taken) faults.push(...taken.faults);
  if (quantity === undefined || 'faults' in taken) return { faults };
  return { record: { sample: id, quantity, ...taken } };
}

function readCollection(
  sample: RequestedSample,
  {
    own,
    shared,
    ...moment
  }: { own: CollectionEntry; shared: CollectionEntry; now: number; timeZone: string },
): Pick<SampleRecord, 'collected'> | { readonly faults: readonly SamplesFault[] } {
  const isOwn = {
    by: own.by.trim() !== '',
    date: Object.values(own.date).some((part) => part.trim() !== ''),
    time: own.time.trim() !== '',
  };
  const entry: CollectionEntry = {
    by: isOwn.by ? own.by : shared.by,
    date: isOwn.date ? own.date : shared.date,
    time: isOwn.time ? own.time : shared.time,
  };
  // Keeps the recorded time with its seconds, even if it is more than 60 days ago.
  const recorded = recordedEntry(sample, moment.timeZone);
  if (sample.completedAt !== undefined && isDeepStrictEqual(entry, recorded)) {
    return { collected: { at: sample.completedAt, by: sample.collectedBy ?? '' } };
  }
  const reading = readCollectionEntry(entry, moment);
  if ('collected' in reading) return reading;
  return {
    faults: reading.faults.map((fault) => (isOwn[fault.field] ? { ...fault, sample: sample.id } : fault)),
  };
}

function readQuantity(typed: string): number | undefined {
  const quantity = /^\d{1,2}$/.test(typed.trim()) ? Number(typed) : 0;
  return quantity >= 1 && quantity <= maxQuantity ? quantity : undefined;
}

const quantityOf = ({ quantity = 1 }: RequestedSample) => quantity;

/** Returns the recorded values of a sample for the form; undefined if the sample is not collected yet. */
export const recordedEntry = ({ completedAt, collectedBy = '' }: RequestedSample, timeZone: string) =>
  completedAt === undefined
    ? undefined
    : writeCollectionEntry({ at: completedAt, by: collectedBy }, timeZone);

/** Removes duplicate errors, because an error in a shared field is found for each sample. */
function withoutRepeats(faults: readonly SamplesFault[]): SamplesFault[] {
  return [...new Map(faults.map((fault) => [`${fault.sample}:${fault.field}`, fault])).values()].toSorted(
    (one, other) => Number(one.sample !== undefined) - Number(other.sample !== undefined),
  );
}
