import { type JsonSchema, publishedSchema } from '@clinical-launch/contracts/published/schema';
import { guidPattern, withoutUndefined } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { hasProblemBody } from '@clinical-launch/http/errors';
import { describedAnswer, fhirRefusals, problemRefusals } from '@clinical-launch/http/openapi/answers';
import { openApiDocument, type PathItem, schemaReference } from '@clinical-launch/http/openapi/document';
import { operationOutcomeSchema, problemSchema } from '@clinical-launch/http/openapi/error-schemas';
import { cursorPattern } from '../domain/audit-entry.ts';
import { outcomes } from '../domain/audit-row.ts';
import { columns, columnsWith } from '../domain/columns.ts';
import { requiredRight } from '../http/audit-reader.ts';
import { fhirParameters } from '../http/fhir-parameters.ts';
import { apiParameters, type Parameter } from '../http/search-criteria.ts';
import { mediaTypes } from '../http/search-events.ts';
import { systems } from '../present/fhir-audit-event.ts';

const description = `Audit API: the events of launches, requests and refusals, for support tools.

Requests need an access token with the right \`${requiredRight}\`. Every search is stored as an event. An unknown parameter is refused, because ignoring it would widen the search.`;

/** The parameters of an interface, and the value of one of them as an example. */
type Interface = {
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly example: Readonly<Record<string, string>>;
};

type Search = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly accepts: Interface;
  /** The media types of the body. Absent if the address contains the parameters. */
  readonly bodyTypes?: readonly string[];
  readonly content: Readonly<Record<string, JsonSchema>>;
};

const [form, json] = ['application/x-www-form-urlencoded', 'application/json'];
const events: Interface = { parameters: apiParameters, example: { client: 'example-client' } };
const fhir: Interface = {
  parameters: fhirParameters,
  example: { agent: `${systems.client}|example-client` },
};
const media = (name: string) => ({ schema: schemaReference(name) });
const bundle = { [mediaTypes.fhir]: media('Bundle') };
const lines = { [mediaTypes.ndjson]: media('Entry') };

const searches: Readonly<Record<string, Search>> = {
  '/audit/events': {
    operationId: 'listAuditEvents',
    summary: 'Search for events, newest first',
    description:
      'JSON has 100 entries on a page, or `limit` up to 1,000. Lines have all entries. If `correlationId` is the only criterion, JSON has the events of the launch in order of arrival, 500 on a page.',
    accepts: events,
    content: {
      [mediaTypes.json]: { schema: { anyOf: ['LaunchEvents', 'Entries'].map(schemaReference) } },
      ...lines,
      ...bundle,
    },
  },
  '/audit/events/_search': {
    operationId: 'listAuditEventsByBody',
    summary: 'Search for events by criteria that an address must not contain',
    description: 'A patient is searched by the pseudonym of `patientSystem` and `patientValue`.',
    accepts: events,
    bodyTypes: [form, json],
    content: { [mediaTypes.json]: media('Entries'), ...lines },
  },
  '/audit/AuditEvent': {
    operationId: 'listFhirAuditEvents',
    summary: 'Search for events by the parameters of FHIR R4, newest first',
    accepts: fhir,
    content: bundle,
  },
  '/audit/AuditEvent/_search': {
    operationId: 'listFhirAuditEventsByForm',
    summary: 'Search for events by the parameters of FHIR R4 in a form',
    accepts: fhir,
    bodyTypes: [form],
    content: bundle,
  },
};

type DocumentOptions = { readonly isProduction: boolean };

function pathItemOf(
  { accepts, bodyTypes, content, ...described }: Search,
  config: DocumentOptions,
): PathItem {
  const isBody = bodyTypes !== undefined;
  const refused = {
    statuses: [400, 401, 403, ...(isBody ? [413, 415] : []), 429, 500, 503],
    isChallenged: true,
  };
  const operation = {
    ...described,
    tags: ['Search'],
    security: [{ accessToken: [] }],
    responses: {
      200: describedAnswer('The events.', { content }),
      ...(accepts === fhir
        ? fhirRefusals(refused)
        : problemRefusals({ ...refused, hasBody: (status) => hasProblemBody(status, config) })),
    },
  };
  if (!isBody) return { get: { ...operation, parameters: queryOf(accepts) } };
  const body = { schema: bodySchemaOf(accepts), example: accepts.example };
  return {
    post: {
      ...operation,
      requestBody: { required: true, content: Object.fromEntries(bodyTypes.map((type) => [type, body])) },
    },
  };
}

const valueOf = ({ schema, isRepeatable }: Parameter) =>
  isRepeatable ? Type.Array(publishedSchema(schema)) : publishedSchema(schema);

/** Returns the parameters of an address, which may contain the pseudonym of a patient but no identifier. */
const queryOf = ({ parameters, example }: Interface) =>
  Object.entries(parameters)
    .filter(([, { isInBodyOnly }]) => isInBodyOnly?.(`${systems.patient}|`) !== true)
    .map(([name, parameter]) => ({
      name,
      in: 'query',
      description: `${parameter.summary}.`,
      schema: valueOf(parameter),
      ...withoutUndefined({ example: example[name] }),
    }));

const bodySchemaOf = ({ parameters }: Interface) => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    Object.entries(parameters).map(([name, parameter]) => [
      name,
      { ...valueOf(parameter), description: `${parameter.summary}.` },
    ]),
  ),
});

const typeSchemas = {
  bigint: Type.String({ pattern: '^\\d+$' }),
  integer: Type.Integer(),
  uuid: Type.String({ pattern: guidPattern }),
  timestamptz: Type.String({ format: 'date-time' }),
  text: Type.String(),
  'text[]': Type.Array(Type.String()),
};
const event = Type.Unsafe({ type: 'object', description: 'The event. See the reference of events.' });
const cursor = Type.String({ pattern: cursorPattern });

const entrySchema = Type.Object({
  ...Object.fromEntries(
    columnsWith('entry').map((name) => {
      const { entry: member, type, ...column } = columns[name];
      return [member, 'isNullable' in column ? Type.Optional(typeSchemas[type]) : typeSchemas[type]];
    }),
  ),
  outcome: Type.Enum([...outcomes]),
  cursor,
  event,
});

/** Returns the OpenAPI document of the audit API. */
export const auditTrailDocument = (config: DocumentOptions): JsonSchema =>
  openApiDocument({
    title: 'Clinical Launch: audit API',
    description,
    tags: { Search: 'The events, as the platform stores them or as FHIR R4 AuditEvent.' },
    paths: Object.fromEntries(
      Object.entries(searches).map(([path, search]) => [path, pathItemOf(search, config)]),
    ),
    schemas: {
      Entry: entrySchema,
      Entries: Type.Object({ entries: Type.Array(schemaReference('Entry')), next: Type.Optional(cursor) }),
      LaunchEvents: Type.Object({
        correlationId: typeSchemas.uuid,
        events: Type.Array(event),
        next: Type.Optional(Type.String({ description: 'The address of the next page.' })),
      }),
      Bundle: Type.Object({
        resourceType: Type.Literal('Bundle'),
        type: Type.Literal('searchset'),
        link: Type.Array({ type: 'object', description: 'Bundle.link of FHIR R4.' }),
        entry: Type.Array({ type: 'object', description: 'Bundle.entry of FHIR R4.' }),
      }),
      Problem: problemSchema,
      OperationOutcome: operationOutcomeSchema,
    },
    securitySchemes: {
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: `An access token with the right \`${requiredRight}\`.`,
      },
    },
    externalDocs: { description: 'The API that issues access tokens', url: '/idp/openapi.json' },
  });
