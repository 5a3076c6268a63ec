import { hash } from 'node:crypto';
import { patientData, type SearchedForm, staffData } from './hidden-data.ts';
import { partsOf } from './secrets.ts';

/** Where no patient, secret or token may be. */
export type Place =
  | 'a log'
  | 'a span'
  | 'a metric'
  | 'a URL'
  | 'a command to Redis'
  | 'a value in Redis'
  | 'a message to RabbitMQ'
  | 'an event'
  | 'an audit row'
  | 'an outbox row';

/** Where no user may be either. Events name users, for the audit trail, and URLs search it for users. */
const withoutUsers: ReadonlySet<Place> = new Set(['a log', 'a span', 'a metric']);

/** A value where it must not be, with what precedes it if it was known then. */
type Leak = { readonly place: Place; readonly value: string; readonly before?: string };

export type LeakSearch = ReturnType<typeof createLeakSearch>;

/**
 * Creates the search of one test file: what it observes must contain no patient, and none of the secrets that
 * were used, before or after.
 */
export function createLeakSearch() {
  const used = new Set<string>();
  const seen = new Map<string, Place>();
  const leaks = new Map<string, Leak>();
  const exceptions: { readonly place: Place; readonly values: string }[] = [];

  const report = (leak: Leak) => leaks.set(`${leak.place} ${leak.value}`, leak);
  const isExpected = ({ place, value }: Leak) =>
    exceptions.some((exception) => exception.place === place && exception.values.includes(value));
  return {
    /** Remembers secrets that were used. */
    use(secrets: readonly string[]): void {
      for (const secret of secrets) used.add(secret);
    },
    /** Returns the secrets that were used. */
    used: (): string[] => [...used],
    /** Searches a text for whole values, and remembers it for secrets that are used later. */
    observe(place: Place, text: string, form: SearchedForm = 'text'): void {
      const reportAt = (value: string, at: number) =>
        report({ place, value, before: text.slice(Math.max(0, at - 60), at) });
      const hidden = withoutUsers.has(place) ? [patientData, staffData] : [patientData];
      for (const { [form]: pattern } of hidden) {
        for (const { 0: value, index } of text.matchAll(pattern)) reportAt(value, index);
      }
      for (const part of partsOf(text)) {
        if (used.has(part)) reportAt(part, text.indexOf(part));
        else seen.set(hashOf(part), place);
      }
    },
    /** Permits values in one place. */
    except(place: Place, values: string): void {
      exceptions.push({ place, values });
    },
    /** Returns a sentence for each leak. */
    found(): string[] {
      for (const secret of used) {
        const place = seen.get(hashOf(secret));
        if (place !== undefined) report({ place, value: secret });
      }
      return [...leaks.values()].filter((leak) => !isExpected(leak)).map(describe);
    },
  };
}

function describe({ place, value, before }: Leak): string {
  const masked = `${value.slice(0, 3)}… (${value.length} characters)`;
  return `${masked} is in ${place}${before === undefined ? '' : `, after ${JSON.stringify(before)}`}`;
}

/** Returns a short hash: the sealed values that a test file sees would fill the memory. */
const hashOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 12);

let current = createLeakSearch();

/** Returns the search of the test file that runs. */
export const leakSearch = (): LeakSearch => current;

/** Begins the search of the next test file. */
export function startLeakSearch(): void {
  current = createLeakSearch();
}

/** Runs an action with a search of its own, and returns the leaks that it found. */
export async function leaksOf(act: () => unknown): Promise<string[]> {
  const outer = current;
  const own = createLeakSearch();
  current = own;
  try {
    await act();
  } finally {
    current = outer;
  }
  return own.found();
}

/** Permits values in one place of this test file: those that the text contains, for the given reason. */
export function exceptLeak(place: Place, values: string, _because: string): void {
  current.except(place, values);
}
