import {
  defaultNamespaces,
  defaultXmlNamespace,
  type Namespaces,
} from '@clinical-launch/contracts/namespaces';
import { Type } from '@clinical-launch/contracts/type';

/** The settings of the namespaces in payloads, for the settings schema of a process. */
export const namespaceSettings = {
  FHIR_NS: Type.String({
    default: defaultNamespaces.fhir,
    title: "The base URI of the platform's own extensions and identifier systems.",
  }),
  NHS_NS: Type.String({
    default: defaultNamespaces.nhs,
    title: 'The base URI of the national identifier systems.',
  }),
  HL7UK_NS: Type.String({
    default: defaultNamespaces.hl7uk,
    title: 'The base URI of the UK professional codes.',
  }),
};

/** The setting `XML_NS`, for the settings schema of a process that writes or describes the order document. */
export const xmlNamespaceSetting = Type.String({
  default: defaultXmlNamespace,
  title: 'The namespace of the order document.',
});

type ReadNamespaces = { readonly FHIR_NS: string; readonly NHS_NS: string; readonly HL7UK_NS: string };

/** Returns the namespaces that were read with `namespaceSettings`. */
export function namespacesOf({ FHIR_NS, NHS_NS, HL7UK_NS }: ReadNamespaces): Namespaces {
  return { fhir: FHIR_NS, nhs: NHS_NS, hl7uk: HL7UK_NS };
}
