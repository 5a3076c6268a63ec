import type { PracticeBinding } from '../coded-identifiers.ts';
import type { Directory } from '../directory.ts';
import { type Fault, faultWithin } from '../fault.ts';
import { bareCode } from '../formats.ts';
import type {
  Action,
  LaunchOrganization,
  LaunchRequest,
  OrganizationIdentifierSystem,
} from '../launch-context.ts';
import type { Namespaces } from '../namespaces.ts';
import {
  type CompiledSchema,
  compileSchema,
  entriesOf,
  isReadableList,
  maxFaults,
  memberOf,
  withoutUndefined,
} from '../schema.ts';
import {
  type ContainedResources,
  createContainedReader,
  createResourceNaming,
  type Reference,
} from './contained-resources.ts';
import { createVocabulary, type Vocabulary } from './identifier-systems.ts';
import { createAgreedValuesCheck, createCodeSearches, createPracticeCheck } from './processed-codes.ts';
import { createResourceReaders, type ResourceContents, type Today } from './resource-readers.ts';
import {
  type IdentifierCheck,
  identifierFaults,
  isOld,
  statusFaults,
  syntheticPatientFaults,
} from './resource-rules.ts';
import { type Accepted, createResourceSchemas, type ResourceSchemas } from './resource-schemas.ts';
import { createSignInReader } from './sign-in-extension.ts';

/** The supported elements of a valid payload, or all errors of an invalid payload. */
export type ServiceRequestReading =
  | { readonly request: LaunchRequest }
  | { readonly faults: readonly Fault[]; readonly parties: ReadParties };

/** The author, practice and patient of an invalid payload, as far as these parts are valid. */
export type ReadParties = Partial<Pick<LaunchRequest, 'author' | 'practice' | 'patient'>>;

/** What was agreed with a client. If `practices` or `directory` is absent, every value is allowed. */
export type Agreement = {
  /** The practices for which the client may launch. */
  readonly practices?: PracticeBinding | undefined;
  /** The practices, users, clinicians and performers. */
  readonly directory?: Directory | undefined;
  /**
   * The values of `acr` that the client may send. If absent, the client may send the default values, which
   * `agreedAcrValues` returns.
   */
  readonly acrValues?: readonly string[] | undefined;
  /** True if the client may send synthetic patients only, whose NHS numbers begin with 999. */
  readonly sandbox?: boolean | undefined;
};

/**
 * Creates the reader of ServiceRequest payloads (OLTR: Resources and their fields). Call this function once,
 * because it compiles the schemas. The reader accepts any JSON value and never throws. It reports all errors
 * at once, up to `maxFaults`. The errors contain no values of the payload, except resource ids. For a valid
 * payload, it returns only the supported elements. It also refuses values that are not part of the agreement
 * with the client.
 * @param clock the clock for checks of dates of birth and sign-in times
 * @param identifierCheck whether national identifiers must be valid in their system
 */
export function createServiceRequestReader(
  namespaces: Namespaces,
  clock: Today = { now: () => Date.now() },
  identifierCheck: IdentifierCheck = 'lenient',
): (payload: unknown, agreement?: Agreement) => ServiceRequestReading {
  const vocabulary = createVocabulary(namespaces);
  const schemas = createResourceSchemas(vocabulary);
  const structure = compileSchema(schemas.serviceRequest);
  const readExtensions = createExtensionReader(vocabulary, schemas);
  const find = createCodeSearches(vocabulary);
  const practiceFaults = createPracticeCheck(vocabulary, find);
  const agreedFaults = createAgreedValuesCheck(find);
  const signIn = createSignInReader(vocabulary);
  const readers = createResourceReaders({ vocabulary, signIn, schemas, clock, identifierCheck });
  const readContained = createContainedReader(readers, schemas);
  const withResources = createResourceNaming(new Set(Object.keys(readers)));

  return (payload, { practices, directory, acrValues, sandbox = false } = {}) => {
    const extensions = readExtensions(payload);
    const contained = readContained(payload);
    const crossing = [
      ...identifierFaults(payload, [vocabulary.originatingId]),
      ...extensions.faults,
      ...statusFaults(payload, extensions.action),
      ...referencesOf(payload, extensions, contained).flatMap((reference) =>
        contained.referenceFaults(reference),
      ),
      ...contained.faults,
      ...practiceFaults(payload, contained, practices),
      ...signIn.agreedFaults(payload, contained, { author: extensions.author, acrValues }),
      ...(sandbox ? syntheticPatientFaults(payload, vocabulary.patient) : []),
    ];
    if (directory !== undefined) {
      const { author } = extensions;
      for (const fault of agreedFaults(payload, contained, { author, directory })) {
        // If neither the binding nor the directory contains the practice, reports the practice only once.
        if (!crossing.some(({ path, code }) => path === fault.path && code === fault.code))
          crossing.push(fault);
      }
    }
    if (crossing.length === 0 && structure.is(payload)) {
      return { request: requestFrom(payload, extensions, contained, vocabulary.originatingId) };
    }
    const faults = [...structure.faultsOf(payload), ...crossing].slice(0, maxFaults);
    return { faults: withResources(faults, payload), parties: partiesOf(payload, extensions, contained) };
  };
}

/**
 * Returns all references in the payload. If `contained` is not a readable list, returns none, because
 * otherwise every reference would be reported in addition to that error.
 */
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

/** Returns the valid parties of an invalid payload, for the event of the refusal. */
function partiesOf(
  payload: unknown,
  { author: authorReference }: RequestExtensions,
  contained: ContainedResources,
): ReadParties {
  const role = contained.find('PractitionerRole', referenceIn(payload, 'requester'));
  const author = contained.find('Person', authorReference ?? '');
  const practice = practiceOf(role, contained);
  const patient = contained.find('Patient', referenceIn(payload, 'subject'));
  return withoutUndefined({ author, practice, patient });
}

function referenceIn(payload: unknown, member: string): string {
  const reference = memberOf(memberOf(payload, member), 'reference');
  return typeof reference === 'string' ? reference : '';
}

const practiceOf = (
  role: ResourceContents['PractitionerRole'] | undefined,
  contained: ContainedResources,
): LaunchOrganization | undefined =>
  organizationFor(
    role && contained.find('Organization', role.organization),
    (system) => system !== 'performing-org',
  );

/**
 * Returns the supported elements of a valid payload.
 * @throws Error if an element is missing, which cannot happen with a valid payload
 */
function requestFrom(
  payload: Accepted<'serviceRequest'>,
  { action, author: authorReference }: RequestExtensions,
  contained: ContainedResources,
  originatingSystem: string,
): LaunchRequest {
  const role = contained.find('PractitionerRole', payload.requester.reference);
  const originatingId = payload.identifier.find(
    (identifier) => identifier.system === originatingSystem && !isOld(identifier),
  )?.value;
  const person = authorReference && contained.find('Person', authorReference);
  const patient = contained.find('Patient', payload.subject.reference);
  const requester = role && contained.find('Practitioner', role.practitioner);
  const practice = practiceOf(role, contained);
  const performer = organizationFor(
    payload.performer[0] && contained.find('Organization', payload.performer[0].reference),
    () => true,
  );
  if (!action || !originatingId || !person || !patient || !requester || !practice || !performer) {
    throw new Error('A valid ServiceRequest has every part');
  }
  const { signIn, ...author } = person;
  return {
    action,
    originatingId: bareCode(originatingId),
    authoredOn: payload.authoredOn,
    author,
    ...withoutUndefined({ signIn }),
    patient,
    requester,
    practice,
    performer,
  };
}

/** Returns an organisation with its first identifier whose system is allowed for its role. */
function organizationFor(
  organization: ResourceContents['Organization'] | undefined,
  counts: (system: OrganizationIdentifierSystem) => boolean,
): LaunchOrganization | undefined {
  const identifier = organization?.identifiers.find(({ system }) => counts(system));
  return organization && identifier && { identifier, name: organization.name };
}

type RequestExtensions = {
  readonly faults: readonly Fault[];
  readonly references: readonly Reference[];
  readonly action?: Action | undefined;
  /** The reference to the Person who entered the request. */
  readonly author?: string | undefined;
};

type Place = { readonly path: string; readonly extension: unknown };

/**
 * Creates the reader of `extension`. The reader requires exactly one action and one author, and ignores other
 * extensions (OLTR: ServiceRequest).
 */
function createExtensionReader(
  { actionExtension, authorExtension }: Vocabulary,
  schemas: ResourceSchemas,
): (payload: unknown) => RequestExtensions {
  const actionStructure = compileSchema(schemas.action);
  const authorStructure = compileSchema(schemas.author);

  return (payload) => {
    const extensions = memberOf(payload, 'extension');
    if (!isReadableList(extensions)) return { faults: [], references: [] };
    const actions = placesOf(actionExtension, extensions);
    const authors = placesOf(authorExtension, extensions);
    return {
      faults: [
        ...faultsOf(actions, actionExtension, actionStructure),
        ...faultsOf(authors, authorExtension, authorStructure),
      ],
      references: authors.map(authorReference),
      action: firstOf(actions, actionStructure)?.valueString,
      author: firstOf(authors, authorStructure)?.valueReference.reference,
    };
  };
}

function placesOf(url: string, extensions: readonly unknown[]): Place[] {
  return extensions.flatMap((extension, index) =>
    memberOf(extension, 'url') === url ? [{ path: `extension[${index}]`, extension }] : [],
  );
}

function faultsOf(places: readonly Place[], url: string, structure: CompiledSchema<unknown>): Fault[] {
  const message = `must have exactly one entry whose url is ${url}`;
  const counted: Fault[] = places.length === 1 ? [] : [{ path: 'extension', message, code: 'invariant' }];
  const faults = places.flatMap(({ path, extension }) =>
    structure.faultsOf(extension).map((fault) => faultWithin(path, fault)),
  );
  return [...counted, ...faults];
}

function firstOf<T>([place]: readonly Place[], structure: CompiledSchema<T>): T | undefined {
  const extension = place?.extension;
  return structure.is(extension) ? extension : undefined;
}

function authorReference({ path, extension }: Place): Reference {
  return {
    path: `${path}.valueReference.reference`,
    reference: memberOf(memberOf(extension, 'valueReference'), 'reference'),
    type: 'Person',
  };
}
