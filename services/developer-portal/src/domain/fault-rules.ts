import type { FaultCode } from '@clinical-launch/contracts/fault';

/**
 * The rule that a payload breaks, by the code of its fault. The message of a fault adds the limit or the valid
 * values.
 */
export const faultRules: Readonly<Record<FaultCode, string>> = {
  structure: 'The payload is one JSON object in UTF-8, and each value has the JSON type of its element.',
  required: 'Each element that the specification requires is present.',
  value: 'Each value has the form of its element, such as a date that exists.',
  'code-invalid': 'The value is one of the values that the specification lists.',
  'too-long': 'A text has at most as many characters as its element allows.',
  invariant: 'The entries of a list are consistent. For example, a patient has exactly one usual name.',
  duplicate: 'An object contains each member once, and contained resources have different ids.',
  'not-found': 'Each reference refers to a resource in contained.',
  'multiple-matches': 'Each reference refers to exactly one resource.',
  'business-rule': 'The value is agreed with the operator. A sandbox client sends synthetic patients only.',
  'not-supported': 'The service supports the request.',
  'too-costly': 'The payload contains only elements of the specification, and is not deeply nested.',
};
