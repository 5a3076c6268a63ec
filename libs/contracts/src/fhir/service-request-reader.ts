import type { LaunchRequest } from '../launch-context.ts';
import type { Namespaces } from '../namespaces.ts';
import { compileSchema, type Fault, maxFaults } from '../schema.ts';
import { type ContainedResources, createContainedReader, type Reference } from './contained-resources.ts';
import { createVocabulary } from './identifier-systems.ts';
import { entriesOf, memberOf } from './payload-access.ts';
import { createExtensionReader, type RequestExtensions } from './request-extensions.ts';
import { createResourceReaders } from './resource-readers.ts';
import { identifierFaults } from './resource-rules.ts';
import { type Accepted, createResourceSchemas } from './resource-schemas.ts';

/** A payload as it was read: its supported elements, or everything that is wrong with it. */
export type ServiceRequestReading =
  | { readonly request: LaunchRequest }
  | { readonly faults: readonly Fault[] };

/**
 * Creates the reader of ServiceRequest payloads (OLTR: Resources and their fields). Compiles its schemas, so create it
 * once per installation.
 *
 * The reader takes anything that JSON.parse can yield and never throws. It reports every fault at once, up to
 * `maxFaults`, none of them with a value of the payload; of a valid payload only the supported elements survive.
 */
export function createServiceRequestReader(
  namespaces: Namespaces,
): (payload: unknown) => ServiceRequestReading {
  const vocabulary = createVocabulary(namespaces);
  const schemas = createResourceSchemas(vocabulary);
  const structure = compileSchema(schemas.serviceRequest);
  const readExtensions = createExtensionReader(vocabulary, schemas);
  const readContained = createContainedReader(createResourceReaders(vocabulary, schemas), schemas);

  return (payload) => {
    const extensions = readExtensions(payload);
    const contained = readContained(payload);
    const crossing = [
      ...identifierFaults(payload, [vocabulary.originatingId]),
      ...extensions.faults,
      ...referencesOf(payload, extensions, contained).flatMap((reference) =>
        contained.referenceFaults(reference),
      ),
      ...contained.faults,
    ];
    if (crossing.length === 0 && structure.is(payload)) {
      return { request: requestFrom(payload, extensions, contained, vocabulary.originatingId) };
    }
    return { faults: [...structure.faultsOf(payload), ...crossing].slice(0, maxFaults) };
  };
}

/** Every reference that must be resolved; none when `contained` is no list, for that is the fault to report. */
function referencesOf(
  payload: unknown,
  extensions: RequestExtensions,
  contained: ContainedResources,
): Reference[] {
  if (!Array.isArray(memberOf(payload, 'contained'))) return [];
  return [
    ...extensions.references,
    {
      path: 'subject.reference',
      reference: memberOf(memberOf(payload, 'subject'), 'reference'),
      type: 'Patient',
    },
    {
      path: 'requester.reference',
      reference: memberOf(memberOf(payload, 'requester'), 'reference'),
      type: 'PractitionerRole',
    },
    ...entriesOf(payload, 'performer').map(
      (performer, index): Reference => ({
        path: `performer[${index}].reference`,
        reference: memberOf(performer, 'reference'),
        type: 'Organization',
      }),
    ),
    ...contained.references,
  ];
}

/** @throws Error when a part is missing, which a payload without faults cannot do. */
function requestFrom(
  payload: Accepted<'serviceRequest'>,
  { action, author: authorReference }: RequestExtensions,
  contained: ContainedResources,
  originatingSystem: string,
): LaunchRequest {
  const role = contained.find('PractitionerRole', payload.requester.reference);
  const originatingId = payload.identifier.find(({ system }) => system === originatingSystem)?.value;
  const author = authorReference && contained.find('Person', authorReference);
  const patient = contained.find('Patient', payload.subject.reference);
  const requester = role && contained.find('Practitioner', role.practitioner);
  const practice = role && contained.find('Organization', role.organization);
  const performer = payload.performer[0] && contained.find('Organization', payload.performer[0].reference);
  if (!action || !originatingId || !author || !patient || !requester || !practice || !performer) {
    throw new Error('A ServiceRequest without faults has every part');
  }
  return {
    action,
    originatingId,
    authoredOn: payload.authoredOn,
    author,
    patient,
    requester,
    practice,
    performer,
  };
}
