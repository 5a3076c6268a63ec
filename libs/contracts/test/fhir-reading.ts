import { createServiceRequestReader, defaultNamespaces, type Fault } from '../src/index.ts';

/** The reader under test, in the default namespaces. */
export const read = createServiceRequestReader(defaultNamespaces);

/** The faults of the payload, whole; none when it is accepted. */
export function wholeFaultsOf(payload: unknown): readonly Fault[] {
  const reading = read(payload);
  return 'faults' in reading ? reading.faults : [];
}

/** Where the payload has faults, and what is told of each; their kinds and resources are tests of their own. */
export function faultsOf(payload: unknown): Pick<Fault, 'path' | 'message'>[] {
  return wholeFaultsOf(payload).map(({ path, message }) => ({ path, message }));
}

/** Where the payload has faults. */
export function faultPathsOf(payload: unknown): string[] {
  return faultsOf(payload).map(({ path }) => path);
}
