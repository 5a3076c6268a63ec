import { codeChallengePattern } from '@clinical-launch/contracts/formats';
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import { authorizationRules } from '../domain/authorization-request.ts';
import { assertionType } from '../domain/client-assertion.ts';
import { codeVerifierPattern } from '../grants/authorization-code.ts';
import { clientParameters } from '../http/authenticate-client.ts';
import { formLimitBytes } from '../http/realm-guards.ts';

/** The code verifier and challenge of RFC 7636 appendix B. */
const example = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
};

/** The values in the documents' examples: invented clients, and placeholders for tokens. */
export const examples = {
  client: { client_id: 'example-client', client_secret: 'the secret of example-client' },
  code: {
    grant_type: 'authorization_code',
    client_id: 'example-partner',
    scope: 'openid launch',
    code: 'the-code-of-the-redirect',
    redirect_uri: 'https://partner.example/callback',
    code_verifier: example.verifier,
  },
  authorization: {
    client_id: 'example-partner',
    response_type: 'code',
    redirect_uri: 'https://partner.example/callback',
    response_mode: 'query',
    scope: 'openid launch',
    code_challenge: example.challenge,
    code_challenge_method: 'S256',
    state: 'af0ifjsldkj',
    launch: 'the-launch-identifier',
  },
};

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  description,
  ...more,
});

const parameters: Readonly<Record<string, JsonSchema>> = {
  client_id: text('The client. May be omitted if the request is authenticated in another way.'),
  client_secret: text(
    'The secret of the client, unless it authenticates by HTTP Basic, key or certificate.',
    {
      format: 'password',
    },
  ),
  client_assertion: text(
    'A JWT that the client signed (RFC 7523 section 2.2). Sign a new one for each request.',
  ),
  client_assertion_type: { const: assertionType, description: 'Required with `client_assertion`.' },
  scope: text(
    'The requested scope. A client requests its default scope. A partner application requests the granted scope or less.',
  ),
  code: text('The authorization code.'),
  redirect_uri: text('The redirect URI of the authorization request.'),
  code_verifier: text(
    'The code verifier of the authorization request. Only the profile `standard` allows `~`.',
    { pattern: codeVerifierPattern },
  ),
  refresh_token: text('The refresh token.'),
  token: text('The token to revoke or introspect.'),
  token_type_hint: text('Accepted and ignored.'),
};

/** Returns the schemas of parameters by name. @throws TypeError for a parameter without a description */
export function describedParameters(names: Iterable<string>): Record<string, JsonSchema> {
  return Object.fromEntries(
    [...names].map((name) => {
      const schema = parameters[name];
      if (schema === undefined) throw new TypeError(`The parameter ${name} has no description`);
      return [name, schema];
    }),
  );
}

/** Returns the form of an endpoint at which clients authenticate. */
export function clientForm(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return {
    type: 'object',
    properties: { ...properties, ...describedParameters(clientParameters) },
    required,
  };
}

const authorizationForms: Readonly<Record<string, JsonSchema>> = {
  response_type: { const: 'code' },
  response_mode: { const: 'query' },
  code_challenge: { pattern: codeChallengePattern },
  code_challenge_method: { const: 'S256' },
};

/** The schemas of an authorization request's parameters, created from the rules that check them. */
export const authorizationProperties: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  authorizationRules.map(({ name, message }) => [
    name,
    { type: 'string', description: `Each value ${message}.`, ...authorizationForms[name] },
  ]),
);

const alwaysNeeded = authorizationRules.filter(({ isOptional }) => !isOptional).map(({ name }) => name);

export const authorizationRequest: JsonSchema = {
  type: 'object',
  properties: authorizationProperties,
  required: alwaysNeeded,
};

/** Returns a form body of the OAuth endpoints. */
export function formBody(schema: JsonSchema, formExamples: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    description: `At most ${formLimitBytes} bytes of UTF-8. Repeated parameters are refused, and unknown parameters are ignored.`,
    required: true,
    content: {
      'application/x-www-form-urlencoded': {
        schema,
        examples: Object.fromEntries(Object.entries(formExamples).map(([name, value]) => [name, { value }])),
      },
    },
  };
}

const segment = (name: string, description: string, sample: string): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', pattern: '^[A-Za-z0-9-]+$' },
  example: sample,
});

/**
 * The path parameters of a realm's name: `one` for a name of one segment, `two` for a name of two segments.
 */
export const realmParameters = {
  one: [segment('realm', 'The realm, in any case.', 'demo')],
  two: [
    segment('segment1', 'The first segment of the realm, in any case.', 'demo'),
    segment('segment2', 'The second segment of the realm, in any case.', 'desktop'),
  ],
};

/** The header with a DPoP proof. It proves possession of the key that the tokens are bound to. */
export const dpopHeader: JsonSchema = {
  name: 'DPoP',
  in: 'header',
  required: false,
  description: 'A DPoP proof (RFC 9449), which binds the tokens to its key.',
  schema: { type: 'string' },
};
