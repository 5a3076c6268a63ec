import type { DesktopContext } from '@clinical-launch/contracts/desktop-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import {
  type FhirResourceType,
  fhirResourceTypes,
  type TokenContext,
} from '@clinical-launch/contracts/token-context';
import { filled, organizationOf, patientOf, practitionerOf, ukCoreProfile } from './fhir-resources.ts';

/** The claims of a desktop launch in an access token (RFC 9068, and our own claims). */
export type LaunchOfToken = {
  /** The GUID of the launch. Revoking the launch revokes the token, and events are stored under this GUID. */
  readonly correlationId: string;
  readonly tokenId: string;
  /** The issuer of the token, which is the base address of its FHIR resources. */
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** The permissions of the user, such as `clinical-cr.read`. */
  readonly authorizations: readonly string[];
  readonly sealedContext: string;
  /** The host application. Absent in tokens of a release without this claim. */
  readonly launched_by?: DesktopContext['launched_by'];
};

/** A protected resource, and what a token needs to read it. */
export type Resource = {
  readonly name: string;
  /** The path pattern in the syntax of Express. */
  readonly path: string;
  readonly mediaType: 'application/json' | 'application/fhir+json';
  /** The permission that the user must have. */
  readonly permission?: string;
  /**
   * The scopes that allow the read, and one of them for the challenge. If absent, the scopes do not matter,
   * because the launch determines the access.
   */
  readonly scope?: { readonly pattern: RegExp; readonly needed: string };
  readonly acceptsPost?: true;
  /**
   * Returns the representation, or undefined if the launch has no resource with this id.
   * @param id the id in the path or in the parameter `_id`, which is empty for a resource without an id
   */
  represent(context: TokenContext, launch: LaunchOfToken, id: string): object | undefined;
};

const readsPatient = 'clinical-cr.read';

/** The resources below `/resource/`, as the host application sent them. */
export const launchResources: readonly Resource[] = [
  {
    name: 'me',
    path: '/resource/me',
    mediaType: 'application/json',
    represent: ({ user, organisation }, { authorizations, launched_by }) =>
      withoutUndefined({ user, organisation, authorizations, launched_by }),
  },
  {
    name: 'patient',
    path: '/resource/patient',
    mediaType: 'application/json',
    permission: readsPatient,
    represent: ({ patient }) => patient,
  },
  {
    name: 'userinfo',
    path: '/resource/userinfo',
    mediaType: 'application/json',
    scope: { pattern: /^openid$/, needed: 'openid' },
    // OpenID Connect Core 1.0 section 5.3.1.
    acceptsPost: true,
    represent: userInfoOf,
  },
];

/**
 * Returns the claims about the user that the scopes request (OpenID Connect Core 1.0 sections 5.3.2 and 5.4),
 * by the names of the ID token and by the standard names. Empty claims are absent.
 */
function userInfoOf({ user, organisation }: TokenContext, { scopes }: LaunchOfToken) {
  const { userERN, email, title, firstName, familyName } = user;
  const { orgERN, orgName, cdb, ods } = organisation;
  const name = [title, firstName, familyName].filter((part) => part !== '').join(' ');
  const standard = { name, given_name: firstName, family_name: familyName };
  const ofIdToken = { userERN, title, firstName, familyName, orgERN, orgName, cdb, ods };
  return {
    sub: userERN,
    ...(scopes.includes('profile') ? filled({ ...standard, ...ofIdToken }) : {}),
    ...(scopes.includes('email') ? filled({ email }) : {}),
  };
}

/** The path of an issuer, which is the base address of its FHIR resources. */
export const issuerPath = '/idp/*realm/v2.0';

/**
 * Returns the FHIR resources of a launch (FHIR R4 RESTful API, read and search).
 * @param nhsNamespace the base URI of the national identifier systems
 */
export function fhirResources(nhsNamespace: string): readonly Resource[] {
  const represent = { Patient: patientOf, Practitioner: practitionerOf, Organization: organizationOf };
  const reads = fhirResourceTypes.map(
    (type): Resource => ({
      name: type,
      path: `${issuerPath}/${type}/:id`,
      mediaType: 'application/fhir+json',
      scope: { pattern: scopeOf(type), needed: `patient/${type}.rs` },
      ...(type === 'Patient' ? { permission: readsPatient } : {}),
      represent: (context, _launch, id) =>
        id === context.fhirIds?.[type]
          ? {
              resourceType: type,
              id,
              meta: { profile: [ukCoreProfile(type)] },
              ...represent[type](context, nhsNamespace),
            }
          : undefined,
    }),
  );
  return [...reads, ...reads.filter(({ name }) => name === 'Patient').map(searchById)];
}

/**
 * Returns the search by `_id`, which finds the resource that a read returns, or none. SMART libraries search
 * for a patient of whom they know the id. Other parameters are ignored, as the link `self` shows.
 */
function searchById(read: Resource): Resource {
  return {
    ...read,
    path: `${issuerPath}/${read.name}`,
    represent(context, launch, id) {
      if (id === '') return undefined;
      const found = read.represent(context, launch, id);
      const base = `${launch.issuer}/${read.name}`;
      return {
        resourceType: 'Bundle',
        type: 'searchset',
        total: found === undefined ? 0 : 1,
        link: [{ relation: 'self', url: `${base}?_id=${encodeURIComponent(id)}` }],
        // FHIR has no empty lists.
        ...(found && { entry: [{ fullUrl: `${base}/${id}`, resource: found, search: { mode: 'match' } }] }),
      };
    },
  };
}

/**
 * Returns the pattern of the scopes that allow reading a type: `resource.read`, and the scopes of SMART App
 * Launch 2.2 and 1.0. With `fhirUser`, a partner may read the user.
 */
function scopeOf(type: FhirResourceType): RegExp {
  const own = type === 'Practitioner' ? 'resource\\.read|fhirUser' : 'resource\\.read';
  return new RegExp(`^(${own}|(patient|user)/(\\*|${type})\\.(rs?|read))$`);
}
