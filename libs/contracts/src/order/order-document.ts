import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CodedIdentifier, isPrintable } from '../coded-identifiers.ts';
import { escapeMarkup, escapeMarkup as text } from '../formats.ts';
import type { LaunchOrganization, LaunchPatient, LaunchPractitioner } from '../launch-context.ts';
import { defaultXmlNamespace } from '../namespaces.ts';
import { localDateTime } from '../time.ts';
import type { Code, CodeScheme, Order, OrderBatch, OrderedTest, OrderSample } from './order.ts';

export type OrderDocumentOptions = {
  /** The GUID of this document. Each rendering of an order has a new GUID. */
  readonly messageId: string;
  /** The XML namespace, which the specification calls {xml_ns}. */
  readonly xmlNamespace: string;
  /** The IANA name of the time zone in which the document states times. */
  readonly timeZone: string;
  readonly system: { readonly name: string; readonly version: string };
};

/**
 * Renders the order document (OLTR: Returned XML). The document has no attributes except the namespace, and
 * its elements follow the order of the specification. It is valid against `orderDocumentXsd` if the payload
 * reader accepted the texts of the order. The declaration names no encoding, because the document travels as
 * text: some parsers refuse text that names one, and UTF-8 is the default of XML (XML 1.0 section 4.3.3).
 * @throws RangeError if a time in the order is not ISO 8601 or the time zone is unknown
 */
export function renderOrderDocument(order: Order, options: OrderDocumentOptions): string {
  const at = (isoTime: string) => localDateTime(isoTime, options.timeZone);
  return `<?xml version="1.0"?>
<onlineOrder xmlns="${text(options.xmlNamespace)}">
  <messageId>${text(options.messageId)}</messageId>
  <serviceProvider>
    <system>
      <systemName>${text(options.system.name)}</systemName>
      <systemVersion>${text(options.system.version)}</systemVersion>
    </system>
    ${organisation(order.performer)}
  </serviceProvider>
  ${patient(order.patient)}
  <orderHeader>
    <guid>${text(order.guid)}</guid>
    ${requestor(order.requester)}
    <timeofRequest>${at(order.authoredOn)}</timeofRequest>${order.batches.map((each) => batch(each, at)).join('')}
  </orderHeader>
</onlineOrder>
`;
}

type TimeWriter = (isoTime: string) => string;

function organisation({ name, identifier }: LaunchOrganization): string {
  return `<organisation>
      <name>${text(name)}</name>
      ${identificationCode(codeOf(identifier))}
    </organisation>`;
}

function patient({ birthDate, name, identifiers }: LaunchPatient): string {
  const nhsNumber =
    identifiers.filter(isPrintable).find(({ system }) => system === 'nhs-number')?.value ?? '';
  return `<patient>
    <dateOfBirth>${text(birthDate.replaceAll('-', ''))}</dateOfBirth>
    <familyName>${text(name.family)}</familyName>
    <firstNames>${text(name.given.join(' '))}</firstNames>
    <title>${text(name.title ?? '')}</title>
    <nhsNumber>${text(nhsNumber)}</nhsNumber>
  </patient>`;
}

function requestor({ name, identifier }: LaunchPractitioner): string {
  return `<requestor>
      <familyName>${text(name.family)}</familyName>
      <firstNames>${text(name.given.join(' '))}</firstNames>
      <title>${text(name.title ?? '')}</title>
      ${identificationCode(codeOf(identifier))}
    </requestor>`;
}

function batch(of: OrderBatch, at: TimeWriter): string {
  return `
    <orderBatch>
      <refid>${text(of.id)}</refid>
      <guid>${text(of.guid)}</guid>
      <orderReference>${text(of.orderReference)}</orderReference>
      <Provider>
        <name>${text(of.provider.name)}</name>
        ${identificationCode(of.provider.code)}
      </Provider>
      <OrderCategory>${text(of.category)}</OrderCategory>
      <Status>${of.status}</Status>
      <LastStatusDate>${at(of.statusAt)}</LastStatusDate>${of.samples.map((each) => sample(each, at)).join('')}${of.tests.map((each) => testOrder(each, at)).join('')}
    </orderBatch>`;
}

function sample({ id, description, completedAt }: OrderSample, at: TimeWriter): string {
  return `
      <sample>
        <refid>${text(id)}</refid>
        <description>${text(description)}</description>
        <sampleCompletionTime>${completedAt === undefined ? '' : at(completedAt)}</sampleCompletionTime>
      </sample>`;
}

function testOrder(test: OrderedTest, at: TimeWriter): string {
  return `
      <testOrder>
        <refid>${text(test.id)}</refid>
        <sample><refid>${text(test.sample)}</refid></sample>
        <testDescription>${text(test.description)}</testDescription>
        <code>
          <value>${text(test.code.value)}</value>
          <scheme>${test.code.scheme}</scheme>
          <term>${text(test.code.term)}</term>
        </code>
        <Status>${test.status}</Status>
        <LastStatusDate>${at(test.statusAt)}</LastStatusDate>
      </testOrder>`;
}

function identificationCode({ value, scheme }: Code): string {
  return `<identificationCode><value>${text(value)}</value><scheme>${scheme}</scheme></identificationCode>`;
}

/** The schemes of the national code sets in the document. All other codes have the scheme LOCAL. */
const nationalSchemes: Readonly<Record<string, CodeScheme>> = {
  'ods-organization-code': 'NHSORGANISATIONS',
  'professional-code': 'NHSGPNATIONALCODES',
};

function codeOf({ system, value }: CodedIdentifier): Code {
  return { value, scheme: nationalSchemes[system] ?? 'LOCAL' };
}

/**
 * The path of the file with the XML Schema of the order document, for tools that read files. The schema in
 * the file has the default namespace.
 */
const xsdPath = fileURLToPath(new URL('order-document.xsd', import.meta.url));

/**
 * Returns the XML Schema 1.0 of the order document for a namespace ({xml_ns}). Do not call this function for
 * each request, because it reads the file.
 */
export function orderDocumentXsd(xmlNamespace: string = defaultXmlNamespace): string {
  return readFileSync(xsdPath, 'utf8').replaceAll(defaultXmlNamespace, () => escapeMarkup(xmlNamespace));
}
