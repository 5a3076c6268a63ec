import { desktopLaunchSchema } from '@clinical-launch/contracts/desktop-context';
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { describedAnswer, oauthRefusals } from '@clinical-launch/http/openapi/answers';
import { openApiDocument, type PathItem, schemaReference } from '@clinical-launch/http/openapi/document';
import { oauthErrorSchema } from '@clinical-launch/http/openapi/error-schemas';
import {
  clientConfiguration,
  desktopConfiguration,
  endedAnswer,
  introspectionAnswer,
  keySet,
  launchAnswer,
  pushedAnswer,
  smartConfiguration,
  tokenAnswer,
} from '../domain/answers.ts';
import { endingSchema } from '../domain/launch-selection.ts';
import type { Grant } from '../grants/grant.ts';
import {
  authorizePath,
  desktopSchemas,
  endLaunchesPath,
  launchesPath,
  launchPath,
  pushPath,
} from './desktop-operations.ts';
import { realmParameters } from './parameters.ts';
import { type DescribedRealm, introspectionPath, revocationPath, tokenPath } from './token-operations.ts';

const description = `Identity provider: access tokens for backends, and desktop launches of partner applications.

The name of a realm has one segment, such as \`demo\`, or two, such as \`demo/desktop\`. Partner applications are launched in desktop realms, whose names have two segments.
Every answer contains the header \`X-Correlation-Id\`. Other methods are answered with 405 and \`Allow\`.`;

type DocumentOptions = {
  readonly grants: readonly Pick<Grant, 'type' | 'clients' | 'parameters'>[];
  /** The scope that a client requests for all its rights. */
  readonly scope: string;
};

const clientRealm: DescribedRealm = { suffix: '', isDesktop: false, tag: 'Client credentials' };
const desktopRealm: DescribedRealm = { suffix: 'InDesktopRealm', isDesktop: true, tag: 'Desktop launch' };

/** Returns the OpenAPI document of the identity provider, for every realm. */
export function identityProviderDocument(options: DocumentOptions): JsonSchema {
  return openApiDocument({
    title: 'Clinical Launch: identity provider',
    description,
    tags: {
      [clientRealm.tag]: 'Access tokens for backends.',
      [desktopRealm.tag]: 'From the host application to the tokens of the partner application.',
      Discovery: 'The public endpoints of a realm.',
    },
    paths: {
      ...below('/idp/{realm}', realmParameters.one, {
        ...tokenPaths(clientRealm, options),
        ...discoveryPaths(clientRealm, 'ClientConfiguration'),
      }),
      ...below('/idp/{segment1}/{segment2}', realmParameters.two, {
        ...tokenPaths(desktopRealm, options),
        '/launches': launchesPath,
        '/launches/_end': endLaunchesPath,
        '/launches/{id}': launchPath,
        '/oauth2/v2.0/authorize': authorizePath,
        '/oauth2/v2.0/par': pushPath,
        ...discoveryPaths(desktopRealm, 'DesktopConfiguration'),
        '/v2.0/.well-known/smart-configuration': published('SmartConfiguration', {
          operationId: 'getSmartConfiguration',
          summary: 'Get the configuration for SMART clients',
          statuses: [404, 429, 500],
        }),
      }),
    },
    schemas: {
      Tokens: tokenAnswer,
      Introspection: introspectionAnswer,
      Launch: desktopLaunchSchema,
      IssuedLaunch: launchAnswer,
      LaunchSelection: endingSchema,
      EndedLaunches: endedAnswer,
      PushedRequest: pushedAnswer,
      ...desktopSchemas,
      ClientConfiguration: clientConfiguration,
      DesktopConfiguration: desktopConfiguration,
      SmartConfiguration: smartConfiguration,
      KeySet: keySet,
      Error: oauthErrorSchema,
    },
    securitySchemes: {
      clientSecret: {
        type: 'http',
        scheme: 'basic',
        description: 'Client id and secret (RFC 6749 section 2.3.1).',
      },
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'An access token of a client of this platform.',
      },
    },
    externalDocs: { description: 'The API that accepts these access tokens', url: '/AccessApi/openapi.json' },
  });
}

const tokenPaths = (realm: DescribedRealm, { grants, scope }: DocumentOptions): Record<string, PathItem> => ({
  '/oauth2/v2.0/token': tokenPath(realm, grants, scope),
  '/oauth2/v2.0/revoke': revocationPath(realm),
  '/oauth2/v2.0/introspect': introspectionPath(realm),
});

const discoveryPaths = ({ suffix }: DescribedRealm, configuration: string): Record<string, PathItem> => ({
  '/v2.0/.well-known/openid-configuration': published(configuration, {
    operationId: `getConfiguration${suffix}`,
    summary: 'Get the discovery document',
  }),
  '/discovery/v2.0/keys': published('KeySet', {
    operationId: `getKeys${suffix}`,
    summary: 'Get the public keys that verify tokens',
  }),
});

type PublishedOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly statuses?: readonly number[];
};

function published(
  schema: string,
  { statuses = [404, 429, 500, 503], ...operation }: PublishedOperation,
): PathItem {
  return {
    get: {
      ...operation,
      tags: ['Discovery'],
      security: [],
      responses: {
        200: describedAnswer('The document.', {
          isStored: true,
          content: { 'application/json': { schema: schemaReference(schema) } },
        }),
        ...oauthRefusals({ statuses }),
      },
    },
  };
}

/** Returns the paths of a kind of realm below `prefix`, each with the path parameters of the realm's name. */
function below(
  prefix: string,
  parameters: readonly JsonSchema[],
  paths: Readonly<Record<string, PathItem>>,
): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [`${prefix}${path}`, { parameters, ...item }]),
  );
}
