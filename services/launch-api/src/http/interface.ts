import { type Static, Type } from '@clinical-launch/contracts/type';

/** The answer of RequestLaunchUrl (OLTR: Launch URL response). */
export const launchUrlAnswer = Type.Object({
  url: Type.String({
    format: 'uri',
    description: 'Append `&codeVerifier=` and the code verifier, then open it in the browser of the user.',
  }),
});
export type LaunchUrlAnswer = Static<typeof launchUrlAnswer>;

/** The answer of Validate to a request that RequestLaunchUrl would accept. */
export const validateAnswer = Type.Object({ errors: Type.Array(Type.Unknown(), { maxItems: 0 }) });
export type ValidateAnswer = Static<typeof validateAnswer>;

/** The paths of the launch API, as callers request them. */
export const addresses = {
  requestLaunchUrl: '/AccessApi/RequestLaunchUrl',
  validate: '/AccessApi/Validate',
  document: '/AccessApi/openapi.json',
  payloadSchema: '/AccessApi/schemas/service-request.json',
  orderSchema: '/AccessApi/schemas/order.xsd',
} as const;
