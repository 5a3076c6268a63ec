import { guidForm } from '@clinical-launch/contracts/schema';
import type { CollectionEntry } from '../domain/draft.ts';
import type { SampleEntry, SamplesEntry } from '../domain/samples-entry.ts';
import { faultyForm } from '../errors.ts';

/** The form of the page for recording samples. */
export type SamplesForm = {
  readonly action: 'record' | 'all-now' | 'work-here';
  /** The version of the request when the page was created. */
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
export function readSamplesForm(form: URLSearchParams): SamplesForm {
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
