import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { fhirResourceTypes } from '@clinical-launch/contracts/token-context';
import { Type } from '@clinical-launch/contracts/type';
import {
  type DescribedAnswers,
  describedAnswer,
  fhirRefusals,
  oauthRefusals,
} from '@clinical-launch/http/openapi/answers';
import { type PathItem, schemaReference } from '@clinical-launch/http/openapi/document';
import { operationOutcomeSchema } from '@clinical-launch/http/openapi/error-schemas';

export const fhirTag = 'FHIR resources';

const base = '/idp/{segment1}/{segment2}/v2.0';
const inPath = (name: string, description: string, example: string): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});
const realm = [
  inPath('segment1', 'The first segment of the realm, as in the issuer.', 'demo'),
  inPath('segment2', 'The second segment of the realm, as in the issuer.', 'desktop'),
];
const idParameter = inPath(
  'id',
  'The id, which only your application can use.',
  '5b1f0c7d9a3e4f62a8c40d1e2f3a4b5c',
);

const content = (schema: string) => ({ 'application/fhir+json': { schema: schemaReference(schema) } });
const refusals = (statuses: readonly number[]): DescribedAnswers =>
  fhirRefusals({
    statuses,
    isChallenged: true,
    texts: {
      403: 'The token does not have the scope, or the user does not have the permission.',
      404: 'The realm does not exist, or the launch of the token has no resource with this id.',
    },
  });

const needs = {
  Patient:
    'Requires the permission `clinical-cr.read`, and one of the scopes `resource.read`, `patient/Patient.rs` and `patient/*.rs`. The id is `patient` in the token response.',
  Practitioner:
    'The user. Requires one of the scopes `resource.read`, `fhirUser`, `user/Practitioner.rs` and `patient/*.rs`. The address is the claim `fhirUser` of the ID token.',
  Organization:
    'Requires one of the scopes `resource.read`, `patient/Organization.rs` and `patient/*.rs`. The reference is in `fhirContext` of the token response.',
};

/** The paths below the issuer (FHIR R4 RESTful API). */
export const fhirPaths: Readonly<Record<string, PathItem>> = {
  ...Object.fromEntries(
    fhirResourceTypes.map((type) => [
      `${base}/${type}/{id}`,
      {
        parameters: [...realm, idParameter],
        get: {
          operationId: `read${type}`,
          summary: `Read the ${type} of the launch`,
          description: needs[type],
          tags: [fhirTag],
          security: [{ accessToken: [] }],
          responses: {
            200: describedAnswer('The resource.', { content: content(`Fhir${type}`) }),
            ...refusals([401, 403, 404, 429, 500, 503]),
          },
        },
      },
    ]),
  ),
  [`${base}/Patient`]: {
    parameters: realm,
    get: {
      operationId: 'searchPatient',
      summary: 'Search for the Patient of the launch by id',
      description: 'Requires what the read requires. Parameters other than `_id` are ignored.',
      tags: [fhirTag],
      security: [{ accessToken: [] }],
      parameters: [{ ...idParameter, name: '_id', in: 'query' }],
      responses: {
        200: describedAnswer('A searchset with the Patient, or an empty one for another id.', {
          content: content('FhirPatients'),
        }),
        ...refusals([401, 403, 404, 429, 500, 503]),
      },
    },
  },
  [`${base}/metadata`]: {
    parameters: realm,
    get: {
      operationId: 'getCapabilityStatement',
      summary: 'Get what the FHIR base offers',
      tags: [fhirTag],
      security: [],
      responses: {
        200: describedAnswer('The capability statement.', {
          isStored: true,
          content: content('CapabilityStatement'),
        }),
        ...refusals([404, 429, 500, 503]),
      },
    },
  },
};

/** Describes the metadata of the resource at a path (RFC 9728 section 3.1). */
function metadataPathItem(resource: string, name: string): readonly [string, PathItem] {
  const parameters = [
    ...(resource.startsWith(base) ? realm : []),
    ...(resource.endsWith('{id}') ? [idParameter] : []),
  ];
  const get = {
    operationId: `get${name}Metadata`,
    summary: `Get the authorization servers of ${resource}`,
    tags: [fhirTag],
    security: [],
    responses: {
      200: describedAnswer('The metadata of the protected resource (RFC 9728).', {
        isStored: true,
        content: { 'application/json': { schema: schemaReference('ResourceMetadata') } },
      }),
      ...oauthRefusals({
        statuses: parameters.length === 0 ? [500, 503] : [404, 429, 500, 503],
      }),
    },
  };
  return [`/.well-known/oauth-protected-resource${resource}`, { parameters, get }];
}

/** The metadata of every protected resource. The challenges of a 401 contain its address. */
export const metadataPaths: Readonly<Record<string, PathItem>> = Object.fromEntries([
  metadataPathItem('/resource/me', 'Me'),
  metadataPathItem('/resource/patient', 'LaunchPatient'),
  metadataPathItem('/resource/userinfo', 'UserInfo'),
  metadataPathItem(base, 'FhirBase'),
  metadataPathItem(`${base}/Patient`, 'FhirPatientSearch'),
  ...fhirResourceTypes.map((type) => metadataPathItem(`${base}/${type}/{id}`, `Fhir${type}`)),
]);

const text = Type.String();
const texts = Type.Array(text);
const identifiers = Type.Array(
  Type.Object({
    system: Type.Optional(text),
    type: Type.Optional(Type.Object({ text })),
    value: text,
  }),
);
const name = Type.Object({
  use: Type.Literal('official'),
  family: text,
  given: Type.Optional(texts),
  prefix: Type.Optional(texts),
});
const contact = Type.Object({
  system: Type.Enum(['phone', 'email']),
  value: text,
  use: Type.Optional(Type.Enum(['home', 'work', 'mobile'])),
});
const address = Type.Object({
  line: Type.Optional(texts),
  city: Type.Optional(text),
  district: Type.Optional(text),
  postalCode: Type.Optional(text),
  country: Type.Optional(text),
});
const shared = { id: text, meta: Type.Object({ profile: texts }), identifier: identifiers };

/** The schemas of the FHIR resources, with the elements that the platform returns. */
export const fhirSchemas = {
  FhirPatient: Type.Object({
    resourceType: Type.Literal('Patient'),
    ...shared,
    name: Type.Array(name),
    telecom: Type.Optional(Type.Array(contact)),
    gender: Type.Enum(['male', 'female', 'other', 'unknown']),
    birthDate: Type.String({ format: 'date' }),
    address: Type.Optional(Type.Array(address)),
  }),
  FhirPatients: Type.Object({
    resourceType: Type.Literal('Bundle'),
    type: Type.Literal('searchset'),
    total: Type.Integer(),
    link: Type.Array({ type: 'object', description: 'Bundle.link of FHIR R4.' }),
    entry: Type.Optional(Type.Array({ type: 'object', description: 'Bundle.entry of FHIR R4.' })),
  }),
  FhirPractitioner: Type.Object({
    resourceType: Type.Literal('Practitioner'),
    ...shared,
    name: Type.Array(name),
    telecom: Type.Array(contact),
  }),
  FhirOrganization: Type.Object({ resourceType: Type.Literal('Organization'), ...shared, name: text }),
  CapabilityStatement: Type.Object({
    resourceType: Type.Literal('CapabilityStatement'),
    status: Type.Literal('active'),
    date: Type.String({ format: 'date' }),
    kind: Type.Literal('instance'),
    software: Type.Object({ name: text }),
    implementation: Type.Object({ description: text, url: text }),
    fhirVersion: Type.Literal('4.0.1'),
    format: texts,
    rest: Type.Array({ type: 'object', description: 'CapabilityStatement.rest of FHIR R4.' }),
  }),
  OperationOutcome: operationOutcomeSchema,
  ResourceMetadata: Type.Object({
    resource: text,
    authorization_servers: texts,
    bearer_methods_supported: texts,
    dpop_signing_alg_values_supported: texts,
    dpop_bound_access_tokens_required: Type.Boolean(),
    tls_client_certificate_bound_access_tokens: Type.Boolean(),
  }),
};
