/** The base URIs {fhir_ns}, {nhs_ns} and {hl7uk_ns} of the OLTR specification, without a trailing slash. */
export type Namespaces = {
  readonly fhir: string;
  readonly nhs: string;
  readonly hl7uk: string;
};

/** The namespaces of a platform whose operator configures none. */
export const defaultNamespaces: Namespaces = {
  fhir: 'https://fhir.clinical-launch.example',
  nhs: 'https://fhir.nhs.uk',
  hl7uk: 'https://fhir.hl7.org.uk',
};
