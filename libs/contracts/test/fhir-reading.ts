import { createServiceRequestReader, defaultNamespaces, type Fault } from '../src/index.ts';

/** The reader under test, in the default namespaces. */
export const read = createServiceRequestReader(defaultNamespaces);

/** The faults of the payload; none when it is accepted. */
export function faultsOf(payload: unknown): readonly Fault[] {
  const reading = read(payload);
  return 'faults' in reading ? reading.faults : [];
}

/** Where the payload has faults. */
export function faultPathsOf(payload: unknown): string[] {
  return faultsOf(payload).map(({ path }) => path);
}
