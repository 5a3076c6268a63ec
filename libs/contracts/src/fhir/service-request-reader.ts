import { type Fault, faultWithin } from '../fault.ts';
import { type Action, actions, type LaunchOrganization, type LaunchRequest } from '../launch-context.ts';
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
import { Type } from '../type.ts';
import { type Agreement, createAgreementCheck, isPracticeSystem, type Parties } from './agreed-values.ts';
import {
  type Contained,
  type ContainedResources,
  createContainedReader,
  type Reference,
} from './contained-resources.ts';
import {
  containedReference,
  element,
  id,
  identifierFaults,
  identifierSuchAs,
  implicitRules,
  listOf,
  modifier,
  referenceIn,
  supportedIn,
} from './elements.ts';
import { createVocabulary, type Vocabulary } from './identifier-systems.ts';
import { createResources, type IdentifierCheck, type ResourceType } from './resources.ts';

/** The supported elements of a valid payload, or all errors of an invalid payload. */
export type ServiceRequestReading =
  | { readonly request: LaunchRequest }
  | { readonly faults: readonly Fault[]; readonly parties: ReadParties };

/** The author, practice and patient of an invalid payload, as far as these parts are valid. */
export type ReadParties = Partial<Pick<LaunchRequest, 'author' | 'practice' | 'patient'>>;

/** The schema of the extension with the action of the launch. */
export const actionSchema = element({ valueString: Type.Enum([...actions]) });

/** The schema of the extension with the author. */
export const authorSchema = element({ valueReference: containedReference });

/** Returns the schema of the ServiceRequest, without its extensions and contained resources. */
export const serviceRequestSchema = ({ originatingId }: Vocabulary) =>
  element({
    resourceType: Type.Enum(['ServiceRequest']),
    id: Type.Optional(id),
    extension: listOf(Type.Object({}), 0),
    identifier: listOf(identifierSuchAs([originatingId]), 1),
    subject: containedReference,
    authoredOn: Type.String({ format: 'full-date-time' }),
    requester: containedReference,
    performer: listOf(containedReference, 1, 1),
    contained: listOf(Type.Unknown(), 0),
    implicitRules,
    doNotPerform: modifier(
      { enum: [true, 'true'] },
      'must not be true, because requests that a test is not done are not supported',
    ),
    status: modifier(
      { enum: ['revoked', 'entered-in-error'] },
      'must not be revoked or entered-in-error. To remove tests of a request, launch UpdateTest',
    ),
  });

/**
 * Creates the reader of ServiceRequest payloads (OLTR: Resources and their fields). Call this function once,
 * because it compiles the schemas. The reader accepts any JSON value and never throws. It reports all errors
 * at once, up to `maxFaults`. The errors contain no values of the payload, except resource ids. For a valid
 * payload, it returns only the supported elements. It also refuses values that are not part of the agreement
 * with the client.
 * @param clock the clock for checks of dates of birth and sign-in times, in milliseconds since 1970
 * @param identifierCheck whether national identifiers must be valid in their system
 */
export function createServiceRequestReader(
  namespaces: Namespaces,
  clock: { now(): number } = Date,
  identifierCheck: IdentifierCheck = 'lenient',
): (payload: unknown, agreement?: Agreement) => ServiceRequestReading {
  const vocabulary = createVocabulary(namespaces);
  const originatingSystem = new Map([[vocabulary.originatingId, 'originating-id']]);
  const structure = compileSchema(serviceRequestSchema(vocabulary));
  const readContained = createContainedReader(createResources(vocabulary, identifierCheck));
  const agreementFaults = createAgreementCheck(vocabulary);

  return (payload, agreement = {}) => {
    const extensions = readExtensions(payload, vocabulary);
    const contained = readContained(payload, clock.now());
    const parties = partiesOf(payload, extensions, contained);
    const crossing = [
      ...identifierFaults(payload, [vocabulary.originatingId]),
      ...extensions.faults,
      ...statusFaults(payload, extensions.action),
      ...referencesOf(payload, extensions, contained).flatMap(contained.referenceFaults),
      ...contained.faults,
      ...agreementFaults(payload, parties, agreement),
    ];
    if (crossing.length === 0 && structure.is(payload)) {
      const [originatingId] = supportedIn(payload, originatingSystem);
      return { request: requestFrom(parties, payload.authoredOn, extensions.action, originatingId?.value) };
    }
    const faults = [...structure.faultsOf(payload), ...crossing].slice(0, maxFaults);
    const { author, patient } = parties;
    return {
      faults: faults.map(contained.withResource),
      parties: withoutUndefined({
        author: author?.content,
        practice: organizationIn(parties.practice, isPracticeSystem),
        patient: patient?.content,
      }),
    };
  };
}

/**
 * Returns all references in the payload. If `contained` is not a readable list, returns none, because
 * otherwise every reference would be reported in addition to that error.
 */
function referencesOf(
  payload: unknown,
  { authors }: RequestExtensions,
  contained: ContainedResources,
): Reference[] {
  if (!isReadableList(memberOf(payload, 'contained'))) return [];
  const reference = (type: ResourceType, path: string, owner: unknown, member: string): Reference => ({
    path: `${path}${member}.reference`,
    reference: referenceIn(owner, member),
    type,
  });
  return [
    ...authors.map(({ path, extension }) => reference('Person', `${path}.`, extension, 'valueReference')),
    reference('Patient', '', payload, 'subject'),
    reference('PractitionerRole', '', payload, 'requester'),
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

function partiesOf(payload: unknown, { author }: RequestExtensions, { find }: ContainedResources): Parties {
  const role = find('PractitionerRole', referenceIn(payload, 'requester'))?.resource;
  return {
    author: find('Person', author),
    patient: find('Patient', referenceIn(payload, 'subject')),
    requester: find('Practitioner', referenceIn(role, 'practitioner')),
    practice: find('Organization', referenceIn(role, 'organization')),
    performer: find('Organization', memberOf(entriesOf(payload, 'performer')[0], 'reference')),
  };
}

/**
 * Returns the supported elements of a valid payload.
 * @throws Error if an element is missing, which cannot happen with a valid payload
 */
function requestFrom(
  parties: Parties,
  authoredOn: string,
  action: Action | undefined,
  originatingId: string | undefined,
): LaunchRequest {
  const [person, patient] = [parties.author?.content, parties.patient?.content];
  const requester = parties.requester?.content;
  const practice = organizationIn(parties.practice, isPracticeSystem);
  const performer = organizationIn(parties.performer, () => true);
  if (!action || !originatingId || !person || !patient || !requester || !practice || !performer) {
    throw new Error('A valid ServiceRequest has every part');
  }
  const { signIn, ...author } = person;
  return {
    action,
    originatingId,
    authoredOn,
    author,
    ...withoutUndefined({ signIn }),
    patient,
    requester,
    practice,
    performer,
  };
}

/** Returns a valid organisation with its first identifier whose system is allowed for its role. */
function organizationIn(
  organization: Contained<'Organization'> | undefined,
  isAllowed: (system: string) => boolean,
): LaunchOrganization | undefined {
  const { identifiers, name } = organization?.content ?? {};
  const identifier = identifiers?.find(({ system }) => isAllowed(system));
  return identifier && name !== undefined ? { identifier, name } : undefined;
}

/** Checks that the `status` of a ServiceRequest does not say that a new order was already acted upon. */
function statusFaults(payload: unknown, action: Action | undefined): Fault[] {
  const status = memberOf(payload, 'status');
  if (action !== 'OrderTest' || !['completed', 'on-hold', 'unknown'].some((one) => one === status)) return [];
  const message = 'must not be completed, on-hold or unknown in an OrderTest';
  return [{ path: 'status', message, code: 'not-supported' }];
}

type RequestExtension = { readonly path: string; readonly extension: unknown };

type RequestExtensions = {
  readonly faults: readonly Fault[];
  readonly authors: readonly RequestExtension[];
  readonly action?: Action | undefined;
  /** The reference to the Person who entered the request. */
  readonly author?: string | undefined;
};

const actionStructure = compileSchema(actionSchema);
const authorStructure = compileSchema(authorSchema);

/**
 * Reads `extension`. Requires exactly one action and one author, and ignores other extensions (OLTR:
 * ServiceRequest).
 */
function readExtensions(
  payload: unknown,
  { actionExtension, authorExtension }: Vocabulary,
): RequestExtensions {
  const extensions = memberOf(payload, 'extension');
  if (!isReadableList(extensions)) return { faults: [], authors: [] };
  const extensionsOf = (url: string) =>
    extensions.flatMap((extension, index) =>
      memberOf(extension, 'url') === url ? [{ path: `extension[${index}]`, extension }] : [],
    );
  const [actionsFound, authors] = [extensionsOf(actionExtension), extensionsOf(authorExtension)];
  return {
    faults: [
      ...faultsOf(actionsFound, actionExtension, actionStructure),
      ...faultsOf(authors, authorExtension, authorStructure),
    ],
    authors,
    action: firstOf(actionsFound, actionStructure)?.valueString,
    author: firstOf(authors, authorStructure)?.valueReference.reference,
  };
}

function faultsOf(
  found: readonly RequestExtension[],
  url: string,
  structure: CompiledSchema<unknown>,
): Fault[] {
  const message = `must have exactly one entry whose url is ${url}`;
  const counted: Fault[] = found.length === 1 ? [] : [{ path: 'extension', message, code: 'invariant' }];
  const faults = found.flatMap(({ path, extension }) =>
    structure.faultsOf(extension).map((fault) => faultWithin(path, fault)),
  );
  return [...counted, ...faults];
}

function firstOf<T>([first]: readonly RequestExtension[], structure: CompiledSchema<T>): T | undefined {
  const extension = first?.extension;
  return structure.is(extension) ? extension : undefined;
}
