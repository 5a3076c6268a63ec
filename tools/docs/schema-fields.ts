/** Lists the fields of a JSON Schema in a table. References link to the section of the named schema. */
import { anchorLink, code, line, table } from './markdown.ts';

/** The keywords of a JSON Schema that the reference pages show. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
};

const literal = (value: unknown) => code(typeof value === 'string' ? value : JSON.stringify(value));

/** Returns a range in words, or nothing if it has no limits. */
function range(from: number | undefined, to: number | undefined, unit = ''): readonly string[] {
  if (from === undefined || from === 0) return to === undefined ? [] : [`at most ${to}${unit}`];
  if (to === undefined) return [`at least ${from}${unit}`];
  return [from === to ? `${to}${unit}` : `${from} to ${to}${unit}`];
}

/** Returns the type of a value and its limits as HTML. */
export function typeOf(schema: Schema): string {
  const { $ref, type, format, items, anyOf, enum: values } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return anchorLink(`schema-${name}`, code(name));
  }
  if (schema.const !== undefined) return literal(schema.const);
  if (values !== undefined) return `${values.length > 1 ? 'one of ' : ''}${values.map(literal).join(', ')}`;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  return [
    items === undefined ? (format ?? type ?? 'any value') : `list of ${typeOf(items)}`,
    ...range(schema.minimum, schema.maximum),
    ...range(undefined, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' entries'),
  ].join(', ');
}

/** Returns the table of the fields of a schema, or its type if it has no fields. */
export function fieldTable(schema: Schema): string {
  const rows = rowsOf(schema, '');
  return rows.length === 0 ? `<p>${typeOf(schema)}</p>\n` : table(['field', '', 'type', 'description'], rows);
}

function rowsOf(schema: Schema, path: string): readonly (readonly string[])[] {
  const { properties = {}, required = [], allOf = [], items } = schema;
  if (items !== undefined) return rowsOf(items, `${path}[]`);
  const own = Object.entries(properties).flatMap(([name, value]) => {
    const place = path === '' ? name : `${path}.${name}`;
    const description = value.description ?? value.items?.description ?? '';
    const need = required.includes(name) ? 'required' : 'optional';
    return [[code(place), need, typeOf(value), line(description)], ...rowsOf(value, place)];
  });
  return [...own, ...allOf.flatMap((part) => rowsOf(part, path))];
}
