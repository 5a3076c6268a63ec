import type { Fault } from '../src/fault.ts';
import { createServiceRequestReader } from '../src/fhir/service-request-reader.ts';
import { defaultNamespaces } from '../src/namespaces.ts';

/** The reader under test, with the default namespaces. */
export const read = createServiceRequestReader(defaultNamespaces);

/** Returns the complete faults of a payload. */
export function wholeFaultsOf(payload: unknown): readonly Fault[] {
  const reading = read(payload);
  return 'faults' in reading ? reading.faults : [];
}

/** Returns the paths and messages of a payload's faults. Other tests check codes and resources. */
export function faultsOf(payload: unknown): Pick<Fault, 'path' | 'message'>[] {
  return wholeFaultsOf(payload).map(({ path, message }) => ({ path, message }));
}

/** Returns the paths of a payload's faults. */
export function faultPathsOf(payload: unknown): string[] {
  return faultsOf(payload).map(({ path }) => path);
}
