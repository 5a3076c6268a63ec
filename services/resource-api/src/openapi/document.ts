import { desktopLaunchSchema, launchedBy } from '@clinical-launch/contracts/desktop-context';
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import { describedAnswer, oauthRefusals } from '@clinical-launch/http/openapi/answers';
import { openApiDocument, type PathItem, schemaReference } from '@clinical-launch/http/openapi/document';
import { oauthErrorSchema } from '@clinical-launch/http/openapi/error-schemas';
import { fhirPaths, fhirSchemas, fhirTag, metadataPaths } from './fhir-paths.ts';

const description = `Resource API: the launch data that a partner application may read.

The access token determines the launch. The id of a FHIR resource is a pseudonym, which only your application can use. Pages of any origin may call the API. A token that is bound to a key requires a DPoP proof.`;

const tag = 'Resources';
const { user, organisation, authorizations, patient } = desktopLaunchSchema.properties;

/** Returns the OpenAPI document of the resource API. */
export const resourceApiDocument = (): JsonSchema =>
  openApiDocument({
    title: 'Clinical Launch: resource API',
    description,
    tags: {
      [tag]: 'The user, the organisation and the patient of a launch, as the host application sent them.',
      [fhirTag]: 'The same data as FHIR R4 resources, below the issuer.',
    },
    paths: {
      '/resource/me': resourcePath('Me', {
        operationId: 'getMe',
        summary: 'Get the user, their organisation and their permissions',
      }),
      '/resource/patient': resourcePath('Patient', {
        operationId: 'getPatient',
        summary: 'Get the patient',
        description: 'Requires the permission `clinical-cr.read` among the authorizations of the user.',
      }),
      '/resource/userinfo': {
        get: readOperation('UserInfo', userInfo),
        post: readOperation('UserInfo', { ...userInfo, operationId: 'getUserInfoByPost' }),
      },
      ...fhirPaths,
      ...metadataPaths,
    },
    schemas: {
      Me: Type.Object({ user, organisation, authorizations, launched_by: Type.Optional(launchedBy) }),
      Patient: patient,
      UserInfo: userInfoSchema,
      Error: oauthErrorSchema,
      ...fhirSchemas,
    },
    securitySchemes: {
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'An access token of a desktop launch.',
      },
    },
    externalDocs: { description: 'The API that issues these access tokens', url: '/idp/openapi.json' },
  });

const userInfo = {
  operationId: 'getUserInfo',
  summary: 'Get the claims about the user',
  description:
    'Requires the scope `openid`. The scopes `profile` and `email` add claims (OpenID Connect Core 1.0 section 5.3). Empty claims are absent.',
};

const claimNames =
  'name given_name family_name userERN title firstName familyName orgERN orgName cdb ods email';
const userInfoSchema = Type.Object({
  sub: Type.String({ description: 'The `sub` of the ID token.' }),
  ...Object.fromEntries(claimNames.split(' ').map((claim) => [claim, optionalText()])),
});

type Described = { readonly operationId: string; readonly summary: string; readonly description?: string };

const resourcePath = (schema: string, described: Described): PathItem => ({
  get: readOperation(schema, described),
});

const readOperation = (schema: string, described: Described) => ({
  ...described,
  tags: [tag],
  security: [{ accessToken: [] }],
  responses: {
    200: describedAnswer('The data of the launch.', {
      content: { 'application/json': { schema: schemaReference(schema) } },
    }),
    ...oauthRefusals({
      statuses: schema === 'Me' ? [401, 429, 500, 503] : [401, 403, 429, 500, 503],
      isChallenged: true,
    }),
  },
});
