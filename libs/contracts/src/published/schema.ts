import { formats } from '../formats.ts';

/** A JSON Schema (2020-12), or a part of a schema, as plain JSON. */
export type JsonSchema = { readonly [keyword: string]: unknown };

const publishedFormats: ReadonlyMap<unknown, JsonSchema> = new Map(
  Object.entries(formats).map(([name, { published }]) => [name, published]),
);

/** The BMP characters of the Unicode property that a portable pattern cannot name. */
const ignorable =
  '\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFF8';

/**
 * Returns a schema as plain JSON Schema 2020-12. Replaces the platform's own formats with standard formats
 * and patterns, and adds a type to every `enum` of strings. Patterns also compile in Java, Python and
 * JavaScript without the flag `u`, and accept some rare characters that the services refuse.
 */
export function publishedSchema(schema: object): JsonSchema {
  const plain: JsonSchema = JSON.parse(JSON.stringify(schema));
  return rewrittenSchema(plain);
}

function rewrittenSchema(schema: JsonSchema): JsonSchema {
  const rewritten = Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => [keyword, rewrittenPart(keyword, part)]),
  );
  return withTypedParts(withPublishedFormat(withPortablePattern(withType(rewritten))));
}

/** Rewrites the schemas in the value of a keyword. Members of `properties` and `$defs` are not keywords. */
function rewrittenPart(keyword: string, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => (isObject(one) ? rewrittenSchema(one) : one));
  if (!isObject(part)) return part;
  if (keyword !== 'properties' && keyword !== '$defs') return rewrittenSchema(part);
  return Object.fromEntries(
    Object.entries(part).map(([name, one]) => [name, isObject(one) ? rewrittenSchema(one) : one]),
  );
}

function withType(schema: JsonSchema): JsonSchema {
  const { enum: words } = schema;
  const areWords = Array.isArray(words) && words.every((word) => typeof word === 'string');
  return areWords ? { type: 'string', ...schema } : schema;
}

function withPortablePattern(schema: JsonSchema): JsonSchema {
  const { pattern } = schema;
  if (typeof pattern !== 'string') return schema;
  return { ...schema, pattern: pattern.replaceAll('\\p{Default_Ignorable_Code_Point}', ignorable) };
}

function withPublishedFormat({ format, ...schema }: JsonSchema): JsonSchema {
  const published = publishedFormats.get(format);
  if (published === undefined) return format === undefined ? schema : { ...schema, format };
  // A schema object cannot contain two patterns, so the second pattern moves to `allOf`.
  if (!('pattern' in published) || !('pattern' in schema)) return { ...schema, ...published };
  const others = Array.isArray(schema['allOf']) ? schema['allOf'] : [];
  return { ...schema, allOf: [...others, published] };
}

/**
 * Adds `type: string` to the schemas in `allOf` of a string, because generators otherwise produce values of
 * any type from these schemas.
 */
function withTypedParts(schema: JsonSchema): JsonSchema {
  const { type, allOf } = schema;
  if (type !== 'string' || !Array.isArray(allOf)) return schema;
  return { ...schema, allOf: allOf.map((part: unknown) => (isObject(part) ? { type, ...part } : part)) };
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
