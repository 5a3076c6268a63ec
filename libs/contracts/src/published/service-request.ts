import { createVocabulary, type Vocabulary } from '../fhir/identifier-systems.ts';
import { createResources } from '../fhir/resources.ts';
import { actionSchema, authorSchema, serviceRequestSchema } from '../fhir/service-request-reader.ts';
import type { Namespaces } from '../namespaces.ts';
import { type JsonSchema, publishedSchema } from './schema.ts';

/**
 * The text about the rules that the schema of the payload cannot express. The payload reader enforces these
 * rules, and its errors contain the paths.
 */
const furtherRules = `Rules beyond the schema:

- Each reference is \`#\` and the \`id\` of one resource in \`contained\`, of the type that its element needs: Person for the author, Patient for \`subject\`, PractitionerRole for \`requester\`, Practitioner and Organization in the PractitionerRole, Organization for \`performer\`.
- Two resources never have the same \`id\`.
- The given names of a usual name have at most 35 characters in all. A previous (\`old\`) family name has at most 35, any other at most 70.
- A Patient has one \`usual\` name and at most one \`old\` name. One name of a Practitioner is \`usual\`.
- A Patient has one national identifier, one hospital number, or one of each. National identifiers can be checked.
- The Organization of the PractitionerRole has an identifier of a practice, not only one of a performing organisation.
- \`birthDate\` is not in the future or more than 140 years ago, and dates are days of the calendar.
- \`null\` in \`prefix\`, \`given\` or \`line\` needs an entry at the same place of \`_prefix\`, \`_given\` or \`_line\`.
- In an OrderTest, \`status\` is not \`completed\`, \`on-hold\` or \`unknown\`.
- Identifiers whose \`use\` is \`old\` are ignored, and one that is not old must remain.
- The practices that a client may name can be registered.

Elements that the schema does not name are accepted and ignored.`;

type Reference = (name: string) => JsonSchema;

/**
 * Returns the schemas of the payload of RequestLaunchUrl by name, beginning with `ServiceRequest` (OLTR:
 * Resources and their fields). They are derived from the schemas that validate the payload.
 * @param reference returns the `$ref` for the name of a schema
 */
export function serviceRequestSchemas(
  namespaces: Namespaces,
  reference: Reference,
): Record<string, JsonSchema> {
  const vocabulary = createVocabulary(namespaces);
  const resources = createResources(vocabulary);
  return {
    ServiceRequest: serviceRequest(vocabulary, reference),
    ActionExtension: ofUrl(vocabulary.actionExtension, actionSchema),
    AuthorExtension: ofUrl(vocabulary.authorExtension, authorSchema),
    Person: ofType('Person', resources.Person.schema),
    Patient: ofType('Patient', resources.Patient.schema),
    PractitionerRole: ofType('PractitionerRole', resources.PractitionerRole.schema),
    Practitioner: ofType(
      'Practitioner',
      resources.Practitioner.schema,
      needingOneOf(vocabulary.practitioner.keys()),
    ),
    Organization: ofType(
      'Organization',
      resources.Organization.schema,
      needingOneOf(vocabulary.organization.keys()),
    ),
  };
}

/** Returns the JSON Schema of the payload as one document. @param id the absolute address of the document */
export function serviceRequestDocument(namespaces: Namespaces, id: string): JsonSchema {
  const { ServiceRequest, ...others } = serviceRequestSchemas(namespaces, (name) => ({
    $ref: `#/$defs/${name}`,
  }));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: id,
    title: 'ServiceRequest of RequestLaunchUrl',
    ...ServiceRequest,
    $defs: others,
  };
}

function serviceRequest(vocabulary: Vocabulary, reference: Reference): JsonSchema {
  const { actionExtension, authorExtension } = vocabulary;
  const { properties, ...request } = objectSchema(publishedSchema(serviceRequestSchema(vocabulary)));
  const types = ['Person', 'Patient', 'PractitionerRole', 'Practitioner', 'Organization'];
  return {
    description: `A simplified FHIR R4 ServiceRequest about one patient. ${furtherRules}`,
    ...request,
    properties: {
      ...properties,
      identifier: { ...parts(properties['identifier']), ...needing('system', vocabulary.originatingId) },
      extension: {
        ...parts(properties['extension']),
        items: {
          anyOf: [
            reference('ActionExtension'),
            reference('AuthorExtension'),
            otherThan('url', { not: { enum: [actionExtension, authorExtension] } }),
          ],
        },
        ...needingOne('url', actionExtension),
        // A schema object can contain only one `contains`, so `if` and `else` require the second extension. A
        // `contains` in `allOf` would make generators produce lists with entries of any type.
        if: { type: 'array', ...needingOne('url', authorExtension) },
        else: { not: {} },
      },
      contained: {
        ...parts(properties['contained']),
        items: { anyOf: [...types.map(reference), otherResource(types)] },
      },
    },
  };
}

const needing = (member: string, value: string) => ({
  contains: { type: 'object', properties: { [member]: { const: value } }, required: [member] },
});

const needingOne = (member: string, value: string) => ({ ...needing(member, value), maxContains: 1 });

/** Requires at least one entry whose system is in `systems`. Entries with other systems are allowed. */
const needingOneOf = (systems: Iterable<string>) => ({
  contains: { type: 'object', properties: { system: { enum: [...systems] } }, required: ['system'] },
});

const otherThan = (member: string, schema: JsonSchema): JsonSchema => ({
  description: 'Any other system: accepted and ignored.',
  type: 'object',
  properties: { [member]: schema },
});

const otherResource = (types: readonly string[]): JsonSchema => ({
  ...otherThan('resourceType', { type: 'string', not: { enum: types } }),
  required: ['resourceType'],
});

function ofUrl(url: string, schema: object): JsonSchema {
  return withMember('url', url, objectSchema(publishedSchema(schema)));
}

function ofType(type: string, schema: object, identifier?: JsonSchema): JsonSchema {
  const published = objectSchema(publishedSchema(schema));
  if (identifier === undefined) return withMember('resourceType', type, published);
  const { properties } = published;
  return withMember('resourceType', type, {
    ...published,
    properties: { ...properties, identifier: { ...parts(properties['identifier']), ...identifier } },
  });
}

/** Returns a copy of a schema. */
const parts = (schema: unknown): JsonSchema => Object.assign({}, schema);

/** Returns an object schema in which `properties` and `required` are always present. */
function objectSchema({ properties, required, ...schema }: JsonSchema): ObjectSchema {
  const names = Array.isArray(required) ? required.map(String) : [];
  return { ...schema, properties: parts(properties), required: names };
}

type ObjectSchema = JsonSchema & { readonly properties: JsonSchema; readonly required: readonly string[] };

function withMember(
  name: string,
  value: string,
  { properties, required, ...schema }: ObjectSchema,
): JsonSchema {
  return {
    ...schema,
    properties: { [name]: { const: value }, ...properties },
    required: [name, ...required],
  };
}
