import { endpoint, type Handler } from '@clinical-launch/http/endpoint';
import { problemDialect, type ServiceError } from '@clinical-launch/http/errors';
import { countLaunchRefusals } from '@clinical-launch/http/launch-refusals';
import { publishDocument } from '@clinical-launch/http/published-document';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import { meter as getMeter } from '@clinical-launch/runtime/metrics';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { Directories } from '@clinical-launch/trust/directory-file';
import type { LaunchApiConfig } from './config.ts';
import { addresses, auditRefusal, behindLaunchCheck, type LaunchRefused } from './http/check-launch.ts';
import { requestLaunchUrl } from './http/request-launch-url.ts';
import { validate } from './http/validate.ts';

export type LaunchApiDependencies = {
  readonly tickets: Tickets;
  readonly tokens: AccessTokenVerifier;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  /** The lists of agreed values. If absent, every value is accepted. */
  readonly directories?: Directories;
};

/**
 * Creates the launch API, which issues launch URLs to the backends of practice management systems. Its
 * endpoints are below `/AccessApi`.
 */
export function launchApi(
  config: LaunchApiConfig,
  { tickets, tokens, limiter, clock, directories }: LaunchApiDependencies,
): Service {
  const checked = behindLaunchCheck(config, { tokens, clock, limiter, directories });
  const counts = createLaunchCounts();
  const request = requestLaunchUrl(config, { tickets, clock, onIssued: counts.issued });
  const shared = { source: '/launch-api', dialect: problemDialect(config) };
  return {
    name: 'launch-api',
    endpoints: [
      endpoint({
        ...shared,
        path: addresses.requestLaunchUrl,
        methods: { POST: checked(request) },
        isNewLaunch: true,
        audit: auditRefusal(),
        onRefused: counts.refused,
      }),
      endpoint({
        ...shared,
        path: addresses.validate,
        methods: { POST: checked(validate) },
        audit: auditRefusal('validate'),
      }),
      ...Object.entries(publishedDocuments(config)).map(([path, send]) =>
        endpoint({ ...shared, path, methods: { GET: send, HEAD: send } }),
      ),
    ],
  };
}

function publishedDocuments(config: LaunchApiConfig): Readonly<Record<string, Handler>> {
  const describe = () => import('./openapi/document.ts');
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
        const { orderDocumentXsd } = await import('@clinical-launch/contracts/order/order-document');
        return orderDocumentXsd(config.xmlNamespace);
      },
    }),
  };
}

/** Counts issued and refused launch URLs by client, and refusals by reason. */
type LaunchCounts = {
  readonly issued: (clientId: string) => void;
  /** Counts a refusal, including refusals by rate limits. */
  readonly refused: (error: ServiceError, exchange: LaunchRefused) => void;
};

function createLaunchCounts(): LaunchCounts {
  const meter = getMeter();
  const issued = meter.createCounter('clinical_launch.launches.issued', {
    description: 'Launch URLs that were issued',
    unit: '{launch}',
  });
  const countRefusal = countLaunchRefusals('request');
  return {
    issued: (clientId) => issued.add(1, { 'clinical_launch.client.id': clientId }),
    refused: (error, { caller }) => countRefusal(error, caller?.clientId),
  };
}
