import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { actions } from '../launch-context.ts';
import type { Vocabulary } from './identifier-systems.ts';

/** Characters that a string may have when the specification's tables name no limit. */
const unnamedLimit = 1024;

const id = Type.String({
  pattern: '^[A-Za-z0-9\\-.]{1,64}$',
  description: 'must be 1 to 64 letters, digits, hyphens or full stops',
});

const containedReference = Type.Object({
  reference: Type.String({
    pattern: '^#[A-Za-z0-9\\-.]{1,64}$',
    description: 'must be # followed by the id of a contained resource',
  }),
});

/** What every text is: a person can see it, and the order document can carry it. */
const legible = {
  pattern: '[^\\s\\p{Default_Ignorable_Code_Point}]',
  description: 'must not be empty or blank',
  format: 'xml-text',
};

/** Text of at most so many Unicode code points. */
function text(maxLength = unnamedLimit) {
  return Type.String({ ...legible, maxLength });
}

function listOf<S extends TSchema>(schema: S, minItems: number, maxItems?: number) {
  return Type.Array(schema, { minItems, ...(maxItems !== undefined && { maxItems }) });
}

function contained<P extends TProperties>(properties: P): TObject<P & { id: typeof id }> {
  return Type.Object({ id, ...properties });
}

/** OLTR: HumanName. What `given` may have in total crosses entries, so it is a rule of its own. */
function humanName<Use extends string>(uses: Use[]) {
  return {
    use: Type.Enum(uses),
    prefix: Type.Optional(Type.Array(text(35))),
    family: text(70),
    given: Type.Optional(Type.Array(text(70))),
  };
}

const identifier = Type.Object({ system: text(), value: text() });

function identifierOf(systems: Iterable<string>) {
  return Type.Object({ system: Type.Enum([...systems]), value: text() });
}

const action = Type.Object({ valueString: Type.Enum([...actions]) });

const author = Type.Object({ valueReference: containedReference });

const serviceRequest = Type.Object({
  resourceType: Type.Enum(['ServiceRequest']),
  id: Type.Optional(id),
  extension: Type.Array(Type.Object({})),
  identifier: listOf(identifier, 1),
  subject: containedReference,
  authoredOn: Type.String({ format: 'full-date-time' }),
  requester: containedReference,
  performer: listOf(containedReference, 1, 1),
  contained: Type.Array(Type.Unknown()),
});

/** What any entry of `contained` must be, of a type that we know or not. */
const anyResource = Type.Object({ resourceType: Type.String() });

const address = Type.Object({
  use: Type.Enum(['home']),
  type: Type.Enum(['physical']),
  line: Type.Optional(Type.Array(text(70), { maxItems: 5 })),
  postalCode: Type.Optional(text(10)),
});

const contactPoint = Type.Object({
  system: Type.Enum(['phone', 'email']),
  value: text(),
  use: Type.Optional(Type.Enum(['home', 'work', 'mobile'])),
});

const practitionerRole = contained({ practitioner: containedReference, organization: containedReference });

const practitioner = contained({
  identifier: listOf(identifier, 1),
  name: listOf(
    Type.Object(humanName(['usual', 'official', 'temp', 'nickname', 'anonymous', 'old', 'maiden'])),
    1,
  ),
});

const organization = contained({ identifier: listOf(identifier, 1), name: text() });

/** The schemas of the ServiceRequest and of each resource it contains (OLTR: Resources and their fields). */
export function createResourceSchemas(vocabulary: Vocabulary) {
  const person = contained({
    name: listOf(Type.Object({ ...humanName(['usual']), given: listOf(text(70), 1) }), 1, 1),
    identifier: listOf(identifierOf([vocabulary.username]), 1, 1),
  });
  const patient = contained({
    // How long a patient's family name may be depends on its use: a rule, not a limit here.
    name: listOf(Type.Object({ ...humanName(['usual', 'old']), family: Type.String(legible) }), 1, 2),
    birthDate: Type.String({ format: 'calendar-date' }),
    gender: Type.Enum(['male', 'female', 'other', 'unknown']),
    address: listOf(address, 1, 1),
    identifier: listOf(identifierOf(vocabulary.patient.keys()), 1, 2),
    telecom: Type.Optional(Type.Array(contactPoint, { maxItems: 4 })),
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

/** The shape of a payload's part once its schema has accepted it. */
export type Accepted<Name extends keyof ResourceSchemas> = Static<ResourceSchemas[Name]>;
