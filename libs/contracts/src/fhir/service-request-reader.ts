import type { Directory } from '../directory.ts';
import type { Fault } from '../fault.ts';
import type { LaunchOrganization, LaunchRequest, OrganizationIdentifierSystem } from '../launch-context.ts';
import { entriesOf, isReadableList, memberOf } from '../members.ts';
import type { Namespaces } from '../namespaces.ts';
import type { PracticeBinding } from '../practice-binding.ts';
import { compileSchema, maxFaults } from '../schema.ts';
import { createAgreedValuesCheck } from './agreed-values-check.ts';
import { type ContainedResources, createContainedReader, type Reference } from './contained-resources.ts';
import { createVocabulary } from './identifier-systems.ts';
import { createPracticeCheck } from './practice-check.ts';
import { createCodeSearches } from './processed-code.ts';
import { createExtensionReader, type RequestExtensions } from './request-extensions.ts';
import { createResourceNaming } from './resource-names.ts';
import { createResourceReaders, type ResourceContents, type Today } from './resource-readers.ts';
import { type IdentifierCheck, identifierFaults } from './resource-rules.ts';
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
 * `maxFaults`, none of them with a value of the payload but the id of the resource that has it; of a valid payload only
 * the supported elements survive.
 * With a binding, a practice outside it is a fault too. With a directory, each value that it does not list is one.
 * @param clock the time, in milliseconds since 1970, to which a date of birth is compared
 * @param identifierCheck whether a national identifier that its system does not give is a fault too
 */
export function createServiceRequestReader(
  namespaces: Namespaces,
  clock: Today = { now: () => Date.now() },
  identifierCheck: IdentifierCheck = 'lenient',
): (payload: unknown, binding?: PracticeBinding, directory?: Directory) => ServiceRequestReading {
  const vocabulary = createVocabulary(namespaces);
  const schemas = createResourceSchemas(vocabulary);
  const structure = compileSchema(schemas.serviceRequest);
  const readExtensions = createExtensionReader(vocabulary, schemas);
  const find = createCodeSearches(vocabulary);
  const practiceFaults = createPracticeCheck(vocabulary, find);
  const agreedFaults = createAgreedValuesCheck(find);
  const readers = createResourceReaders({ vocabulary, schemas, clock, identifierCheck });
  const readContained = createContainedReader(readers, schemas);
  const withResources = createResourceNaming(new Set(Object.keys(readers)));

  return (payload, binding, directory) => {
    const extensions = readExtensions(payload);
    const contained = readContained(payload);
    const crossing = [
      ...identifierFaults(payload, [vocabulary.originatingId]),
      ...extensions.faults,
      ...referencesOf(payload, extensions, contained).flatMap((reference) =>
        contained.referenceFaults(reference),
      ),
      ...contained.faults,
      ...practiceFaults(payload, contained, binding),
    ];
    if (directory !== undefined) {
      const { author } = extensions;
      for (const fault of agreedFaults(payload, contained, { author, directory })) {
        // A practice may be outside both the binding and the directory.
        if (!crossing.some(({ path, code }) => path === fault.path && code === fault.code))
          crossing.push(fault);
      }
    }
    if (crossing.length === 0 && structure.is(payload)) {
      return { request: requestFrom(payload, extensions, contained, vocabulary.originatingId) };
    }
    const faults = [...structure.faultsOf(payload), ...crossing].slice(0, maxFaults);
    return { faults: withResources(faults, payload) };
  };
}

/** Every reference that must be resolved; none when `contained` is no readable list, for that is the fault to report. */
function referencesOf(
  payload: unknown,
  extensions: RequestExtensions,
  contained: ContainedResources,
): Reference[] {
  if (!isReadableList(memberOf(payload, 'contained'))) return [];
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
  const practice = organizationFor(
    role && contained.find('Organization', role.organization),
    (system) => system !== 'performing-org',
  );
  const performer = organizationFor(
    payload.performer[0] && contained.find('Organization', payload.performer[0].reference),
    () => true,
  );
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

/** An organisation by the first of its identifiers that counts for what it is here. */
function organizationFor(
  organization: ResourceContents['Organization'] | undefined,
  counts: (system: OrganizationIdentifierSystem) => boolean,
): LaunchOrganization | undefined {
  const identifier = organization?.identifiers.find(({ system }) => counts(system));
  return organization && identifier && { identifier, name: organization.name };
}
