import type { Fault } from './fault.ts';
import { memberOf, withoutUndefined } from './schema.ts';
import { bothTimes, clockToleranceSeconds } from './time.ts';
import { type Static, Type } from './type.ts';

/**
 * The values of `acr` that a client may send if the registry lists none: the authentication assurance levels
 * of NIST SP 800-63.
 */
const assuranceLevels = ['AAL1', 'AAL2', 'AAL3'] as const;

/** An authentication method of RFC 8176 section 2. */
export const authenticationMethod = Type.Enum(
  'face fpt geo hwk iris kba mca mfa otp pin pop pwd rba retina sc sms swk tel user vbm wia'.split(' '),
);

/** A value of `acr`, which cannot contain a space because spaces separate the values in `acr_values`. */
export const acrValue = Type.String({
  pattern: '^[!-~]{1,100}$',
  description: 'must be 1 to 100 visible ASCII characters',
});

/**
 * How the user signed in to the launching system. The system may omit any member. The names are those of
 * OpenID Connect Core 1.0 section 2.
 */
export const signInMembers = {
  acr: Type.Optional(acrValue),
  /** The authentication methods (RFC 8176). */
  amr: Type.Optional(Type.Array(authenticationMethod, { minItems: 1, maxItems: 20, uniqueItems: true })),
  /** The time of the sign-in, in seconds since 1970. */
  auth_time: Type.Optional(Type.Integer({ minimum: 1 })),
};

export const signInSchema = Type.Object(signInMembers);
export type SignIn = Static<typeof signInSchema>;

/** Returns the values of `acr` that a client may send. @param agreed the values in the registry, if any */
export function agreedAcrValues(agreed: readonly string[] | undefined): readonly string[] {
  return agreed ?? assuranceLevels;
}

/**
 * Returns the errors in a sign-in that its schema cannot find. These are an `auth_time` in the future, and an
 * `acr` that the registry does not allow the client to send. Accepts any value, and repeats only `auth_time`
 * in a message.
 * @param options `now` is in milliseconds since 1970. `acrValues` are the values in the registry
 */
export function signInFaults(
  sent: unknown,
  { now = Number.POSITIVE_INFINITY, acrValues }: SignInRules,
): Fault[] {
  const acr = memberOf(sent, 'acr');
  const time = memberOf(sent, 'auth_time');
  const isFuture = typeof time === 'number' && time > now / 1000 + clockToleranceSeconds;
  return [
    ...(typeof acr === 'string' && !agreedAcrValues(acrValues).includes(acr) ? [foreignAcr] : []),
    ...(isFuture ? [futureSignIn(time, now)] : []),
  ];
}

type ReadonlySignIn = Omit<SignIn, 'amr'> & { readonly amr?: readonly string[] };
type SignInRules = { readonly now?: number; readonly acrValues?: readonly string[] | undefined };

/** Returns the members of event data that describe a sign-in. */
export function signInData({ acr, amr, auth_time: authTime }: ReadonlySignIn = {}) {
  return withoutUndefined({ acr, amr: amr && [...amr], authTime });
}

const foreignAcr: Fault = {
  path: 'acr',
  message: 'must be AAL1, AAL2 or AAL3, or one of the acrValues that the registry lists for this client',
  code: 'code-invalid',
};
const futureSignIn = (time: number, now: number): Fault => ({
  path: 'auth_time',
  message: `must not be in the future, in seconds (not milliseconds) since 1970: ${bothTimes('auth_time', time, now)}`,
  code: 'value',
});
