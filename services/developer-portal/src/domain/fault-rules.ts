import type { FaultCode } from '@clinical-launch/contracts/fault';

/**
 * The rule that a payload breaks, by the code of the fault. The message of the fault states limits and values.
 */
export const faultRules: Readonly<Record<FaultCode, string>> = {
  structure: 'The payload is one JSON object in UTF-8, and each value has the JSON type of its element.',
  required: 'Each element that the specification requires is present.',
  value: 'Each value has the form of its element, such as a date that exists.',
  'code-invalid': 'The value is one of the values that the specification lists.',
  'too-long': 'A text is not longer than its element allows.',
  invariant: 'The entries of a list fit together, such as exactly one usual name of a patient.',
  duplicate: 'An object names a member once, and two contained resources have different ids.',
  'not-found': 'Each reference leads to a resource in contained.',
  'multiple-matches': 'Each reference leads to one resource only.',
  'business-rule': 'The value was agreed with the operator. A sandbox client sends synthetic patients only.',
  'not-supported': 'The service supports the request.',
  'too-costly': 'The payload has only the elements of the specification, and is not nested deeply.',
};
