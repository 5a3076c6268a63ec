import type { Fault } from '../src/fault.ts';
import { createServiceRequestReader } from '../src/fhir/service-request-reader.ts';
import { defaultNamespaces } from '../src/namespaces.ts';

/** The reader under test, in the default namespaces. */
export const read = createServiceRequestReader(defaultNamespaces);

/** Returns the complete errors of the payload; none if it is valid. */
export function wholeFaultsOf(payload: unknown): readonly Fault[] {
  const reading = read(payload);
  return 'faults' in reading ? reading.faults : [];
}

/** Returns the paths and messages of the payload's errors; other tests check their kinds and resources. */
export function faultsOf(payload: unknown): Pick<Fault, 'path' | 'message'>[] {
  return wholeFaultsOf(payload).map(({ path, message }) => ({ path, message }));
}

/** Returns the paths of the payload's errors. */
export function faultPathsOf(payload: unknown): string[] {
  return faultsOf(payload).map(({ path }) => path);
}
