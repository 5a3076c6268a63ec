import { faultCodes } from '@clinical-launch/contracts/fault';
import { guidPattern } from '@clinical-launch/contracts/schema';
import { type Static, Type } from '@clinical-launch/contracts/type';

const guid = Type.String({
  pattern: guidPattern,
  description: 'The GUID of the request, as in `X-Correlation-Id`. Give it to support.',
});

/** An entry of `errors` in a 400 answer. */
export const faultSchema = Type.Object({
  path: Type.String({
    description:
      'Where it is: `contained[1].name[0].family`; a header or a parameter by its name; empty for the whole body.',
  }),
  message: Type.String({
    description: 'What to send instead, as the rest of a sentence that begins with the path.',
  }),
  code: Type.Enum([...faultCodes], {
    description: 'The kind of error. `docs/reference/errors.md` explains each.',
  }),
  resource: Type.Optional(
    Type.String({ description: 'The FHIR resource with the error: `Patient #patient`.' }),
  ),
});

/** Problem details (RFC 9457). */
export const problemSchema = Type.Object({
  type: Type.Literal('about:blank'),
  title: Type.String(),
  status: Type.Integer(),
  correlationId: guid,
  errors: Type.Optional(Type.Array(faultSchema, { description: 'Every error at once; only with a 400.' })),
});
export type Problem = Static<typeof problemSchema>;

/** The errors as an OperationOutcome (FHIR R4), for `Accept: application/fhir+json`. */
export const operationOutcomeSchema = Type.Object({
  resourceType: Type.Literal('OperationOutcome'),
  id: guid,
  issue: Type.Array(
    Type.Object({
      severity: Type.Literal('error'),
      code: Type.String({ description: 'FHIR R4 value set issue-type.' }),
      details: Type.Optional(Type.Object({ text: Type.String() })),
      diagnostics: Type.String(),
      expression: Type.Optional(Type.Array(Type.String({ description: 'FHIRPath.' }))),
      location: Type.Optional(Type.Array(Type.String({ description: '`http.` and the name of a header.' }))),
    }),
    { minItems: 1 },
  ),
});

/** An error of OAuth 2.0 (RFC 6749 section 5.2). */
export const oauthErrorSchema = Type.Object({
  error: Type.String({
    description: 'A code of RFC 6749 or its extensions. `docs/reference/errors.md` explains each.',
  }),
  error_description: Type.String({ description: 'For the developer who reads it. It may change.' }),
  correlation_id: guid,
  errors: Type.Optional(Type.Array(faultSchema, { description: 'Every error of a JSON body at once.' })),
});
export type OAuthError = Static<typeof oauthErrorSchema>;
