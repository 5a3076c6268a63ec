import type { Fault } from '../src/fault.ts';
import { createServiceRequestReader } from '../src/fhir/service-request-reader.ts';
import { defaultNamespaces } from '../src/namespaces.ts';

/** Reads ServiceRequests with the default namespaces. */
export const read = createServiceRequestReader(defaultNamespaces);

/** Returns the errors of a payload with all their members. */
export function wholeFaultsOf(payload: unknown): readonly Fault[] {
  const reading = read(payload);
  return 'faults' in reading ? reading.faults : [];
}

/** Returns the path and message of each error. `fhir-faults.test.ts` checks the codes and resources. */
export function faultsOf(payload: unknown): Pick<Fault, 'path' | 'message'>[] {
  return wholeFaultsOf(payload).map(({ path, message }) => ({ path, message }));
}

/** Returns the path of each error of a payload. */
export function faultPathsOf(payload: unknown): string[] {
  return faultsOf(payload).map(({ path }) => path);
}
