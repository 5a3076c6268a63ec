import { type Endpoint, endpoint } from '@clinical-launch/http/endpoint';
import { oauthDialect } from '@clinical-launch/http/errors';
import { publishDocument } from '@clinical-launch/http/published-document';
import { eventSource } from '../domain/addresses.ts';
import type { Grant } from '../grants/grant.ts';

type Described = {
  readonly grants: readonly Grant[];
  /** The scopes that clients may request. */
  readonly scopes: readonly string[];
};

/**
 * Publishes the description of every endpoint: `GET /openapi.json`. The first request creates the
 * description.
 */
export function publishedDescription({ grants, scopes: [scope = ''] }: Described): Endpoint {
  const describe = publishDocument({
    contentType: 'application/json',
    make: async () => {
      const { identityProviderDocument } = await import('./document.ts');
      return JSON.stringify(identityProviderDocument({ grants, scope }));
    },
  });
  return endpoint({
    path: '/openapi.json',
    source: eventSource,
    dialect: oauthDialect,
    anyOrigin: true,
    methods: { GET: describe, HEAD: describe },
  });
}
