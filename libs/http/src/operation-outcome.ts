import type { Fault } from '@clinical-launch/contracts/fault';

/** The parts of a refusal or a failure that an OperationOutcome reports. */
type Reported = { readonly status: number; readonly message: string; readonly faults: readonly Fault[] };

/**
 * Returns an OperationOutcome (FHIR R4): one issue for each error, or one for the whole answer.
 * @param correlationId its id, which is also in the log and the audit trail
 */
export function operationOutcome({ status, message, faults }: Reported, correlationId: string) {
  const issue =
    faults.length > 0
      ? faults.map(issueOf)
      : [{ severity: 'error', code: issueTypes.get(status) ?? typeOfClass(status), diagnostics: message }];
  return { resourceType: 'OperationOutcome', id: correlationId, issue };
}

/** FHIR R4 issue types of the answers without a list of errors. */
const issueTypes: ReadonlyMap<number, string> = new Map([
  [405, 'not-supported'],
  [413, 'too-long'],
  [415, 'not-supported'],
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
 * Returns FHIRPath in a resource; `http.` and the name for a header or a parameter (FHIR R4,
 * OperationOutcome.issue.location).
 */
function placeOf(path: string, resource: string | undefined) {
  if (path === '') return { expression: ['ServiceRequest'] };
  return resource === undefined ? { location: [`http.${path}`] } : { expression: [`ServiceRequest.${path}`] };
}
