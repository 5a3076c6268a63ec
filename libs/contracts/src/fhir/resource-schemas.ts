import { singleLine, wellDecoded } from '../formats.ts';
import { actions } from '../launch-context.ts';
import { maxEntries } from '../schema.ts';
import { type Static, type TProperties, type TSchema, Type } from '../type.ts';
import type { Vocabulary } from './identifier-systems.ts';

/** The maximum length of strings whose length the tables of the specification do not limit. */
const unnamedLimit = 1024;

/**
 * The maximum number of entries in `given` and `prefix`. Given names have at most 35 characters in total, so
 * a longer list cannot be valid.
 */
const maxNameParts = 35;

const id = Type.String({
  pattern: '^[A-Za-z0-9\\-.]{1,64}$',
  description: 'must be 1 to 64 letters, digits, hyphens or full stops',
});

/**
 * Returns the schema of an optional member that is otherwise ignored. Refuses the values that would change
 * the meaning of what is read: a receiver must check them (FHIR R4 conformance rules, isModifier).
 */
const modifier = (refused: object, description: string) =>
  Type.Optional(Type.Unsafe<unknown>({ not: refused, description }));

const modifierExtension = modifier(
  { anyOf: [{ type: 'array', minItems: 1 }, { type: 'object' }] },
  'must be empty, because modifier extensions are not supported',
);

const implicitRules = modifier(
  { type: 'string', minLength: 1 },
  'must be absent, because implicit rules are not supported',
);

const currentUse = modifier({ const: 'old' }, 'must not be old. Send the current identifier');

const requestModifiers = {
  implicitRules,
  doNotPerform: modifier(
    { enum: [true, 'true'] },
    'must not be true, because requests that a test is not done are not supported',
  ),
  status: modifier(
    { enum: ['revoked', 'entered-in-error'] },
    'must not be revoked or entered-in-error. To remove tests of a request, launch UpdateTest',
  ),
};

const currentLinks = modifier(
  {
    type: 'array',
    contains: { type: 'object', properties: { type: { const: 'replaced-by' } }, required: ['type'] },
  },
  'must not have the type replaced-by. Send the Patient that replaces this one',
);

const element = <P extends TProperties>(properties: P) => Type.Object({ ...properties, modifierExtension });

const containedReference = element({
  reference: Type.String({
    pattern: '^#[A-Za-z0-9\\-.]{1,64}$',
    description: 'must be # followed by the id of a contained resource',
  }),
});

/** The rules for every text: at least one visible character, no line breaks or tabs, and valid in XML. */
const legible = {
  pattern: '[^\\s\\p{Default_Ignorable_Code_Point}]',
  description: 'must not be empty or blank',
  format: 'xml-text',
  // Accepts a blank text, because the pattern above already reports it.
  allOf: [
    {
      pattern: `${singleLine.pattern}|^[\\s\\p{Default_Ignorable_Code_Point}]*$`,
      description: singleLine.description,
    },
  ],
};

/** Returns the schema of text with at most `maxLength` Unicode code points. */
function text(maxLength = unnamedLimit, annotations = {}) {
  return Type.String({ ...legible, maxLength, ...annotations });
}

const legibleName = { ...legible, allOf: [...legible.allOf, wellDecoded] };

/**
 * Returns the schema of a text in a list, or of the `null` beside an entry of the list with `_`, which
 * `placeholderFaults` checks (FHIR R4 JSON, representation of primitive elements).
 */
const textOrNull = (maxLength: number, annotations = {}) =>
  Type.Unsafe<string | null>({ ...text(maxLength, annotations), type: ['string', 'null'] });

const nameText = (maxLength = unnamedLimit) => text(maxLength, legibleName);

function listOf<S extends TSchema>(schema: S, minItems: number, maxItems = maxEntries) {
  return Type.Array(schema, { minItems, maxItems });
}

const contained = <P extends TProperties>(properties: P) => element({ id, ...properties, implicitRules });

/**
 * Returns the properties of OLTR: HumanName. `givenNameFaults` checks the total length of `given`, which a
 * schema cannot limit.
 */
function humanName<Use extends string>(uses: Use[], annotations = {}) {
  return {
    use: Type.Enum(uses, annotations),
    prefix: Type.Optional(listOf(textOrNull(35, legibleName), 0, maxNameParts)),
    family: nameText(70),
    given: Type.Optional(listOf(textOrNull(70, legibleName), 0, maxNameParts)),
  };
}

/**
 * A family name whose length the schema does not limit. If the use may be `old`, `familyFaults` checks the
 * length, because the limit depends on the use.
 */
const anyFamily = Type.String(legibleName);

/**
 * Returns the schema of an identifier in a list that may contain any system. The supported systems are
 * examples, because identifiers of other systems are accepted and ignored.
 */
function identifierSuchAs(systems: Iterable<string>) {
  return element({ system: text(unnamedLimit, { examples: [...systems] }), value: text() });
}

function identifierOf(systems: Iterable<string>) {
  return element({ system: Type.Enum([...systems]), value: text(), use: currentUse });
}

const action = element({ valueString: Type.Enum([...actions]) });

const author = element({ valueReference: containedReference });

/** The schema of every entry of `contained`, including resources of unsupported types. */
const anyResource = Type.Object({ resourceType: Type.String() });

const address = element({
  use: Type.Enum(['home']),
  type: Type.Enum(['physical']),
  line: Type.Optional(Type.Array(textOrNull(70), { maxItems: 5 })),
  postalCode: Type.Optional(text(10)),
});

const contactPoint = element({
  system: Type.Enum(['phone', 'email']),
  value: text(),
  use: Type.Optional(Type.Enum(['home', 'work', 'mobile'])),
});

const practitionerRole = contained({ practitioner: containedReference, organization: containedReference });

/**
 * Creates the schemas of the ServiceRequest and of the resources that it contains (OLTR: Resources and their
 * fields).
 */
export function createResourceSchemas(vocabulary: Vocabulary) {
  const serviceRequest = element({
    resourceType: Type.Enum(['ServiceRequest']),
    id: Type.Optional(id),
    extension: listOf(Type.Object({}), 0),
    identifier: listOf(identifierSuchAs([vocabulary.originatingId]), 1),
    subject: containedReference,
    authoredOn: Type.String({ format: 'full-date-time' }),
    requester: containedReference,
    performer: listOf(containedReference, 1, 1),
    contained: listOf(Type.Unknown(), 0),
    ...requestModifiers,
  });
  const person = contained({
    name: listOf(
      element({ ...humanName(['usual']), given: listOf(textOrNull(70, legibleName), 1, maxNameParts) }),
      1,
      1,
    ),
    identifier: listOf(identifierOf([vocabulary.username]), 1, 1),
  });
  const patient = contained({
    name: listOf(element({ ...humanName(['usual', 'old']), family: anyFamily }), 1, 2),
    birthDate: Type.String({ format: 'calendar-date' }),
    gender: Type.Enum(['male', 'female', 'other', 'unknown']),
    address: listOf(address, 1, 1),
    identifier: listOf(identifierOf(vocabulary.patient.keys()), 1, 2),
    telecom: Type.Optional(Type.Array(contactPoint, { maxItems: 4 })),
    link: currentLinks,
  });
  const practitioner = contained({
    identifier: listOf(identifierSuchAs(vocabulary.practitioner.keys()), 1),
    name: listOf(
      element({
        // An error about a missing `use` lists only the examples.
        ...humanName(['usual', 'official', 'temp', 'nickname', 'anonymous', 'old', 'maiden'], {
          examples: ['usual'],
        }),
        family: anyFamily,
      }),
      1,
    ),
  });
  const organization = contained({
    identifier: listOf(identifierSuchAs(vocabulary.organization.keys()), 1),
    name: nameText(),
  });
  return {
    serviceRequest,
    action,
    author,
    anyResource,
    person,
    patient,
    practitionerRole,
    practitioner,
    organization,
  };
}

export type ResourceSchemas = ReturnType<typeof createResourceSchemas>;

/** The TypeScript type of a part of the payload that is valid against its schema. */
export type Accepted<Name extends keyof ResourceSchemas> = Static<ResourceSchemas[Name]>;
