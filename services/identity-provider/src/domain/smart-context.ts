import { type DesktopContext, patientContext } from '@clinical-launch/contracts/desktop-context';
import type { FhirIds } from '@clinical-launch/contracts/token-context';
import type { IssuingRealm } from './realms.ts';

/** The scopes that request claims of the ID token beyond the specification's table. Each adds one claim. */
export const claimScopes = ['fhirUser', 'authorization_details'] as const;

/** The scopes for which the token response contains the launch context (SMART App Launch 2.2). */
const contextScopes = ['launch', 'launch/patient'];

/**
 * Returns the launch context of a token response (SMART App Launch 2.2, Launch context arrives with your
 * access token). If the scope does not request it, returns an empty object. The partner application opens in
 * its own window, without the patient banner of the host application, so `need_patient_banner` is always
 * true. `fhirContext` contains the organisation, because no other member identifies it.
 */
export function smartContext(scope: string, ids: FhirIds) {
  if (!scope.split(' ').some((word) => contextScopes.includes(word))) return {};
  return {
    patient: ids.Patient,
    need_patient_banner: true,
    fhirContext: [{ reference: `Organization/${ids.Organization}`, type: 'Organization' }],
  };
}

type Granted = {
  readonly realm: Pick<IssuingRealm, 'issuer'>;
  readonly scope: string;
  readonly fhirIds: FhirIds;
};

/**
 * Returns the claim `fhirUser` if the scope requests it: an absolute URL below the issuer (SMART App Launch
 * 2.2, Scopes for requesting identity data).
 */
const fhirUserClaim = ({ realm, scope, fhirIds }: Granted) =>
  scope.split(' ').includes('fhirUser')
    ? { fhirUser: `${realm.issuer}/Practitioner/${fhirIds.Practitioner}` }
    : {};

/**
 * Returns the members that the introspection response repeats: the launch context of the token response, and
 * `fhirUser` of the ID token (SMART App Launch 2.2, Conditional fields in the introspection response).
 */
export const introspectedContext = (granted: Granted) => ({
  ...smartContext(granted.scope, granted.fhirIds),
  ...fhirUserClaim(granted),
});

/**
 * Returns the claims that the scope requests beyond the specification's table (Desktop: ID token claims). The
 * claim `authorization_details` is an array in the form of RFC 9396 section 2. The claim
 * `authorizationDetails` of the table contains the same array as JSON text.
 */
export function requestedClaims({
  context,
  ...granted
}: Granted & { readonly context: Pick<DesktopContext, 'patient'> }) {
  return {
    ...fhirUserClaim(granted),
    ...(granted.scope.split(' ').includes('authorization_details')
      ? { authorization_details: patientContext(context.patient) }
      : {}),
  };
}

/**
 * Returns the capabilities of a realm (SMART App Launch 2.2, Conformance) that depend on the scopes of its
 * partner applications. OpenID Connect in SMART requires signatures with RS256.
 */
export function scopeCapabilities(
  scopes: readonly string[],
  { signingAlgorithm }: Pick<IssuingRealm, 'signingAlgorithm'>,
): string[] {
  const has = (form: RegExp) => scopes.some((scope) => form.test(scope));
  return [
    ...(has(/^fhirUser$/) && signingAlgorithm === 'RS256' ? ['sso-openid-connect'] : []),
    ...(has(/^launch(\/patient)?$/) ? ['context-ehr-patient', 'context-banner'] : []),
    ...(has(/^offline_access$/) ? ['permission-offline'] : []),
    ...(has(/^patient\//) ? ['permission-patient'] : []),
    ...(has(/^user\//) ? ['permission-user'] : []),
    ...(has(/^(patient|user)\/[\w*]+\.read$/) ? ['permission-v1'] : []),
    ...(has(/^(patient|user)\/[\w*]+\.rs?$/) ? ['permission-v2'] : []),
  ];
}
