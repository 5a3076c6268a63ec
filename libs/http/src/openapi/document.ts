import { type JsonSchema, publishedSchema } from '@clinical-launch/contracts/published/schema';
import { commonHeaders, type DescribedAnswers } from './answers.ts';

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: DescribedAnswers;
  /** The alternative authentication methods. The list is empty for a public operation. */
  readonly security: readonly JsonSchema[];
};

export type Method = 'get' | 'post' | 'delete';

export type PathItem = { readonly [Name in Method]?: Operation } & {
  readonly parameters?: readonly JsonSchema[];
  readonly servers?: readonly { readonly url: string }[];
};

type DocumentOptions = {
  readonly title: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly paths: Readonly<Record<string, PathItem>>;
  /**
   * Schemas by name. The document replaces the platform's own formats in these schemas with standard formats.
   */
  readonly schemas: Readonly<Record<string, object>>;
  readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  readonly externalDocs: { readonly description: string; readonly url: string };
};

/** The version of the described interfaces. A breaking change increases its first number. */
const version = '1.0.0';

/**
 * Returns an OpenAPI 3.1 document. Its server URL is `/`, so that clients use the origin from which they
 * fetched the document, even behind a proxy.
 */
export function openApiDocument({ title, description, tags, schemas, ...rest }: DocumentOptions): JsonSchema {
  const { paths, securitySchemes, externalDocs } = rest;
  const written = JSON.stringify(paths);
  const isUsed = ([name]: [string, object]) => written.includes(`"#/components/headers/${name}"`);
  return {
    openapi: '3.1.1',
    info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/', description: 'The origin from which this document was fetched' }],
    externalDocs,
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, publishedSchema(schema)]),
      ),
      headers: Object.fromEntries(Object.entries(commonHeaders).filter(isUsed)),
      securitySchemes,
    },
  };
}

/** Returns a reference to a schema in the same document. */
export const schemaReference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
