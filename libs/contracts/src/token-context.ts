import { desktopLaunchSchema } from './desktop-context.ts';
import { compileSchema, withUnknownMembers } from './schema.ts';
import { type Static, Type } from './type.ts';

/** The FHIR resources that a partner application may read in a desktop launch. */
export const fhirResourceTypes = ['Patient', 'Practitioner', 'Organization'] as const;
export type FhirResourceType = (typeof fhirResourceTypes)[number];

/** The ids of the FHIR resources of a launch, which are pseudonyms for one partner application. */
const fhirIds = Type.Object({
  Patient: Type.String(),
  Practitioner: Type.String(),
  Organization: Type.String(),
});
export type FhirIds = Readonly<Static<typeof fhirIds>>;

const { user, organisation, patient } = desktopLaunchSchema.properties;
const tokenContext = Type.Object({
  user,
  organisation,
  patient,
  /** The ids are absent in tokens of releases that did not serve FHIR resources. */
  fhirIds: Type.Optional(fhirIds),
});

/**
 * The launch context in the access token of a desktop launch. The identity provider encrypts it for the
 * resource API.
 */
export type TokenContext = Readonly<Static<typeof tokenContext>>;

const compiled = compileSchema(withUnknownMembers(tokenContext));

/**
 * Returns true if a decrypted value is the context of a desktop launch. Accepts members that a newer release
 * may have added.
 */
export const isTokenContext = (value: unknown): value is TokenContext => compiled.is(value);
