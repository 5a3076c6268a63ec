import type { AuditEvent } from 'fhir/r4.js';
import type { AuditEntry } from '../domain/audit-entry.ts';
import { kindOf, outcomeCodes } from '../domain/fhir-values.ts';

/** The code system of event types, and the identifier systems in the resources. */
export const systems = {
  eventType: 'urn:clinical-launch:event-type',
  client: 'urn:clinical-launch:client',
  user: 'urn:clinical-launch:user',
  practice: 'urn:clinical-launch:practice',
  patient: 'urn:clinical-launch:patient-pseudonym',
  correlation: 'urn:clinical-launch:correlation',
  order: 'urn:clinical-launch:order',
  orderReference: 'urn:clinical-launch:order-reference',
  service: 'urn:clinical-launch:service',
} as const;

const agentTypes = 'http://terminology.hl7.org/CodeSystem/extra-security-role-type';
const participation = 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType';
const entityTypes = 'http://terminology.hl7.org/CodeSystem/audit-entity-type';
const entityRoles = 'http://terminology.hl7.org/CodeSystem/object-role';

/**
 * Converts an entry to a FHIR R4 AuditEvent. Its agents are the user, the client and the service that wrote
 * the event. Its entities are the patient (as a pseudonym), the launch, the order and its references.
 */
export function fhirAuditEvent(entry: AuditEntry) {
  const { type, action } = kindOf(entry.type);
  const { reason, practice } = entry;
  return {
    resourceType: 'AuditEvent' as const,
    id: entry.id,
    type,
    subtype: [{ system: systems.eventType, code: entry.type, display: entry.type }],
    action,
    recorded: entry.time.toISOString(),
    outcome: outcomeCodes[entry.outcome],
    ...(reason === null ? {} : { outcomeDesc: reason }),
    agent: agentsOf(entry),
    source: {
      ...(practice === null ? {} : { site: practice }),
      observer: identifierOf(systems.service, entry.source.slice(1)),
    },
    entity: entitiesOf(entry),
  } satisfies AuditEvent;
}

type Links = { readonly publicUrl: string; readonly self: string; readonly next: string | undefined };

/** Returns a page of a search. @param links the paths of this page and of the next page */
export const fhirBundle = (entries: readonly AuditEntry[], { publicUrl, self, next }: Links) => ({
  resourceType: 'Bundle',
  type: 'searchset',
  link: [
    { relation: 'self', url: publicUrl + self },
    ...(next === undefined ? [] : [{ relation: 'next', url: publicUrl + next }]),
  ],
  entry: entries.map((entry) => ({
    fullUrl: `${publicUrl}/audit/AuditEvent/${entry.id}`,
    resource: fhirAuditEvent(entry),
    search: { mode: 'match' },
  })),
});

const identifierOf = (system: string, value: string, display?: string | null) => ({
  identifier: { system, value },
  ...(display ? { display } : {}),
});

const role = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });

function agentsOf({ user, userDisplay, client, practice, practiceName, source, address }: AuditEntry) {
  const network = address === null ? {} : { network: { address, type: '2' as const } };
  const person = {
    type: role(agentTypes, 'humanuser', 'human user'),
    who: identifierOf(systems.user, user ?? '', userDisplay),
    altId: user ?? '',
    ...(userDisplay ? { name: userDisplay } : {}),
    requestor: true,
    ...(practice === null ? {} : { location: identifierOf(systems.practice, practice, practiceName) }),
  };
  const application = {
    type: role(agentTypes, 'dataprocessor', 'data processor'),
    who: identifierOf(systems.client, client ?? ''),
    requestor: user === null,
    ...network,
  };
  const service = {
    type: role(participation, 'CST', 'custodian'),
    who: identifierOf(systems.service, source.slice(1)),
    requestor: false,
    ...(client === null ? network : {}),
  };
  return [...(user === null ? [] : [person]), ...(client === null ? [] : [application]), service];
}

function entitiesOf({ patient, correlationId, launchId, orderGuid, orderReferences, action }: AuditEntry) {
  const entity = (type: string, display: string, [code, name]: readonly [string, string]) => ({
    type: { system: entityTypes, code: type, display },
    role: { system: entityRoles, code, display: name },
  });
  const about = (system: string, value: string | null) =>
    value === null
      ? []
      : [{ what: identifierOf(system, value), ...entity('2', 'System Object', ['20', 'Job']) }];
  const person = entity('1', 'Person', ['1', 'Patient']);
  return [
    ...(patient === null ? [] : [{ what: identifierOf(systems.patient, patient), ...person }]),
    ...about(systems.correlation, correlationId).map((launch) => ({
      ...launch,
      ...(action === null ? {} : { name: action }),
    })),
    ...about(systems.correlation, launchId),
    ...about(systems.order, orderGuid),
    ...(orderReferences ?? []).flatMap((reference) => about(systems.orderReference, reference)),
  ];
}
