import type { Fault } from '@clinical-launch/contracts/fault';

type Reported = { readonly status: number; readonly message: string; readonly faults: readonly Fault[] };

/**
 * Returns an OperationOutcome (FHIR R4) with an issue for each fault. Without faults, it has one issue.
 * @param correlationId the id of the OperationOutcome, which the log and the audit trail also contain
 */
export function operationOutcome({ status, message, faults }: Reported, correlationId: string) {
  const issue =
    faults.length > 0
      ? faults.map(issueOf)
      : [{ severity: 'error', code: issueTypes.get(status) ?? typeOfClass(status), diagnostics: message }];
  return { resourceType: 'OperationOutcome', id: correlationId, issue };
}

/** The FHIR R4 issue types of refusals that list no faults, by status. Other statuses use `typeOfClass`. */
const issueTypes: ReadonlyMap<number, string> = new Map([
  [401, 'login'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [405, 'not-supported'],
  [408, 'timeout'],
  [413, 'too-long'],
  [415, 'not-supported'],
  [429, 'throttled'],
  [503, 'transient'],
]);

const typeOfClass = (status: number) => (status >= 500 ? 'exception' : 'invalid');

function issueOf({ path, message, code, resource }: Fault) {
  const sentence = path === '' ? message : `${path} ${message}`;
  return {
    severity: 'error',
    code,
    details: { text: resource === undefined ? sentence : `${resource}: ${sentence}` },
    diagnostics: message,
    ...placeOf(path, resource),
  };
}

/**
 * Returns a FHIRPath for an element of a resource. For a header or a parameter, returns `http.` and its name
 * (FHIR R4, OperationOutcome.issue.location).
 */
function placeOf(path: string, resource: string | undefined) {
  if (path === '') return { expression: ['ServiceRequest'] };
  return resource === undefined ? { location: [`http.${path}`] } : { expression: [`ServiceRequest.${path}`] };
}
