import type { Handler } from '@clinical-launch/http/endpoint';
import { publishDocument } from '@clinical-launch/http/published-document';
import type { LaunchApiConfig } from '../config.ts';
import { addresses } from '../http/check-launch.ts';

/** Returns the public documents of the launch API, by path: its OpenAPI document and its schemas. */
export function publishedDocuments(config: LaunchApiConfig): Readonly<Record<string, Handler>> {
  const describe = () => import('./document.ts');
  return {
    [addresses.document]: publishDocument({
      contentType: 'application/json',
      make: async () => JSON.stringify((await describe()).launchApiDocument(config)),
    }),
    [addresses.payloadSchema]: publishDocument({
      contentType: 'application/schema+json',
      make: async () => JSON.stringify((await describe()).payloadSchemaDocument(config)),
    }),
    [addresses.orderSchema]: publishDocument({
      contentType: 'application/xml',
      make: async () => {
        const { orderDocumentXsd } = await import('@clinical-launch/contracts/order/order-document-xsd');
        return orderDocumentXsd(config.xmlNamespace);
      },
    }),
  };
}
