import type { AuditOutcome } from './audit-row.ts';

/** A code of a FHIR code system. */
export type Coding = { readonly system: string; readonly code: string; readonly display: string };

const eventTypes = 'http://terminology.hl7.org/CodeSystem/audit-event-type';
const dicom = 'http://dicom.nema.org/resources/ontology/DCM';

const authentication: Coding = { system: dicom, code: '110114', display: 'User Authentication' };
const auditLogUsed: Coding = { system: dicom, code: '110101', display: 'Audit Log Used' };
const dataExport: Coding = { system: dicom, code: '110106', display: 'Export' };
const rest: Coding = { system: eventTypes, code: 'rest', display: 'RESTful Operation' };

type Kind = { readonly type: Coding; readonly action: 'C' | 'R' | 'U' | 'D' | 'E' };

/** The FHIR type and action for each prefix of an event type. The first matching prefix applies. */
const kinds: readonly (readonly [string, Kind])[] = [
  ['access.token', { type: authentication, action: 'E' }],
  ['access.', { type: authentication, action: 'R' }],
  ['desktop.', { type: authentication, action: 'E' }],
  ['launch.session.ended', { type: authentication, action: 'E' }],
  ['launch.ended', { type: authentication, action: 'E' }],
  ['launch.token', { type: authentication, action: 'E' }],
  ['launch.', { type: rest, action: 'E' }],
  ['order.submitted', { type: rest, action: 'C' }],
  ['order.document.rendered', { type: rest, action: 'C' }],
  ['order.document.delivery', { type: dataExport, action: 'R' }],
  ['order.document.delivered', { type: dataExport, action: 'R' }],
  ['order', { type: rest, action: 'R' }],
  ['audit.', { type: auditLogUsed, action: 'R' }],
  ['resource.', { type: rest, action: 'R' }],
];

/** Returns the FHIR type and action of an event type (value sets audit-event-type and audit-event-action). */
export const kindOf = (type: string): Kind =>
  kinds.find(([start]) => type.startsWith(start))?.[1] ?? { type: rest, action: 'E' };

/** The codes of FHIR's value set audit-event-outcome: success, minor failure, serious failure. */
export const outcomeCodes = {
  success: '0',
  refused: '4',
  failed: '8',
} as const satisfies Readonly<Record<AuditOutcome, string>>;
