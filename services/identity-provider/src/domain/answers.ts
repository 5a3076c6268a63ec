import { launchedBy } from '@clinical-launch/contracts/desktop-context';
import { optionalText, type Static, Type } from '@clinical-launch/contracts/type';

const seconds = Type.Integer({ minimum: 1, description: 'seconds' });
const words = Type.Array(Type.String());
const address = Type.String({ format: 'uri' });

/** The launch context (SMART App Launch 2.2). */
const launchContext = {
  patient: optionalText({
    description:
      'Only in a desktop launch with the scope `launch`: the id of the FHIR Patient, which is the same in every launch of the application for this patient.',
  }),
  need_patient_banner: Type.Optional(
    Type.Boolean({ description: 'With `patient`: true, because the application must show the patient.' }),
  ),
  fhirContext: Type.Optional(
    Type.Array(Type.Object({ reference: Type.String(), type: Type.String() }), {
      description: 'With `patient`: the organisation.',
    }),
  ),
};

/** The token response (RFC 6749 section 5.1). */
export const tokenAnswer = Type.Object({
  access_token: Type.String({ description: 'A JWT (RFC 9068). Send it as `Authorization: Bearer`.' }),
  token_type: Type.Enum(['Bearer', 'DPoP'], {
    description: '`DPoP` for an access token that is bound to a key (RFC 9449 section 5).',
  }),
  expires_in: seconds,
  refresh_token: optionalText({ description: 'Only in a desktop launch. Rotated at every use.' }),
  id_token: optionalText({
    description: 'Only in a desktop launch: a JWT with the user, the organisation and the patient.',
  }),
  scope: Type.String({
    description:
      'For a client the requested scope, while the access token contains its rights. For a partner application the granted scope.',
  }),
  ...launchContext,
});
export type TokenAnswer = Readonly<Static<typeof tokenAnswer>>;

/**
 * The introspection response (RFC 7662 section 2.2). For an inactive token, the response contains only
 * `active`.
 */
export const introspectionAnswer = Type.Object({
  active: Type.Boolean(),
  token_type: Type.Optional(Type.Enum(['Bearer', 'DPoP'])),
  client_id: optionalText(),
  azp: optionalText(),
  scope: optionalText(),
  scp: Type.Optional(words),
  roles: Type.Optional(words),
  authorizations: Type.Optional(words),
  iss: Type.Optional(address),
  sub: optionalText(),
  aud: optionalText(),
  jti: optionalText(),
  iat: Type.Optional(Type.Integer()),
  nbf: Type.Optional(Type.Integer()),
  exp: Type.Optional(Type.Integer()),
  sid: optionalText({ description: 'The GUID of the desktop launch.' }),
  acr: optionalText({ description: 'How strongly the user of the desktop launch signed in.' }),
  amr: Type.Optional(words),
  auth_time: Type.Optional(
    Type.Integer({ description: 'When the user signed in, or the start of the desktop launch if unknown.' }),
  ),
  launched_by: Type.Optional(launchedBy),
  cnf: Type.Optional(
    Type.Object(
      { jkt: optionalText(), 'x5t#S256': optionalText() },
      { description: 'The key or the certificate that the token is bound to.' },
    ),
  ),
  ...launchContext,
  fhirUser: optionalText({ format: 'uri', description: 'With the scope `fhirUser`: the FHIR Practitioner.' }),
});

/** The answer with a launch identifier for a host application. */
export const launchAnswer = Type.Object({
  launch: Type.String({
    description: 'The launch identifier, which the partner application can use once.',
  }),
  launchUrl: Type.String({ description: 'The complete launch URL with `iss` and `launch`.' }),
  expires_in: seconds,
  called: Type.Optional(
    Type.Boolean({
      description: 'Whether the service reached the launch URL. Present if `call` was true.',
    }),
  ),
});
export type LaunchAnswer = Readonly<Static<typeof launchAnswer>>;

export const endedAnswer = Type.Object({
  ended: Type.Integer({ minimum: 0, description: 'The number of launches that this request ended.' }),
});
export type EndedLaunches = Readonly<Static<typeof endedAnswer>>;

/** The answer to a pushed authorization request (RFC 9126 section 2.2). */
export const pushedAnswer = Type.Object({
  request_uri: Type.String({ description: 'Valid for one authorization request.' }),
  expires_in: seconds,
});
export type PushedAnswer = Readonly<Static<typeof pushedAnswer>>;

/** A JWK set (RFC 7517 section 5), with the members of every kind of key. */
export const keySet = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.Enum(['RSA', 'EC', 'OKP']),
      kid: Type.String(),
      use: Type.Literal('sig'),
      alg: Type.String(),
      n: optionalText(),
      e: optionalText(),
      crv: optionalText(),
      x: optionalText(),
      y: optionalText(),
    }),
  ),
});

const shared = {
  issuer: address,
  authorization_endpoint: address,
  response_types_supported: words,
  token_endpoint: address,
  jwks_uri: address,
  revocation_endpoint: address,
  revocation_endpoint_auth_methods_supported: words,
  revocation_endpoint_auth_signing_alg_values_supported: Type.Optional(words),
  introspection_endpoint: address,
  introspection_endpoint_auth_methods_supported: words,
  grant_types_supported: words,
  scopes_supported: words,
  token_endpoint_auth_methods_supported: words,
  token_endpoint_auth_signing_alg_values_supported: Type.Optional(words),
  tls_client_certificate_bound_access_tokens: Type.Optional(Type.Boolean()),
};

const desktop = {
  pushed_authorization_request_endpoint: address,
  require_pushed_authorization_requests: Type.Boolean(),
  response_modes_supported: words,
  code_challenge_methods_supported: words,
  dpop_signing_alg_values_supported: words,
};

/**
 * The discovery document of a realm without desktop launches (RFC 8414 section 2). Its authorization endpoint
 * refuses every request.
 */
export const clientConfiguration = Type.Object({
  ...shared,
  subject_types_supported: words,
  id_token_signing_alg_values_supported: words,
});

/** The discovery document of a desktop realm (OpenID Connect Discovery 1.0 section 3). */
export const desktopConfiguration = Type.Object({
  ...shared,
  ...desktop,
  userinfo_endpoint: address,
  subject_types_supported: words,
  id_token_signing_alg_values_supported: words,
  acr_values_supported: words,
  claim_types_supported: words,
  claims_supported: words,
  backchannel_logout_supported: Type.Boolean(),
  backchannel_logout_session_supported: Type.Boolean(),
  claims_parameter_supported: Type.Boolean(),
  request_parameter_supported: Type.Boolean(),
  request_uri_parameter_supported: Type.Boolean(),
  authorization_response_iss_parameter_supported: Type.Boolean(),
});

/** The SMART configuration (SMART App Launch 2.2, Conformance). */
export const smartConfiguration = Type.Object({ ...shared, ...desktop, capabilities: words });
