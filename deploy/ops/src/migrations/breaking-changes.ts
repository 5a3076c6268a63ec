import type { ColumnDescription, SchemaDescription, TableDescription } from '@clinical-launch/storage/schema';
import type { DatabaseAccess } from '../service-access.ts';

/**
 * Returns what may stop the statements of a process that was written for the schema `before`, as sentences
 * without a subject; none if the schema `after` offers all of it. Does not see what a migration does to rows.
 */
export function breakingChanges(before: SchemaDescription, after: SchemaDescription): readonly string[] {
  return [
    ...Object.entries(before.tables).flatMap(([name, table]) => {
      const now = after.tables[name];
      return now === undefined ? [`drops the table ${name}`] : changesOfTable(name, table, now);
    }),
    ...lost(before.sequences, after.sequences).map((name) => `drops the sequence ${name}`),
    ...changesOfFunctions(before, after),
  ];
}

const lost = (before: readonly string[], after: readonly string[]) =>
  before.filter((one) => !after.includes(one));

function changesOfTable(table: string, before: TableDescription, after: TableDescription): string[] {
  const isNew = (column: string) => before.columns[column] === undefined;
  return [
    ...Object.entries(before.columns).flatMap(([name, column]) => {
      const now = after.columns[name];
      return now === undefined
        ? [`drops the column ${table}.${name}`]
        : changesOfColumn(`${table}.${name}`, column, now);
    }),
    ...Object.entries(after.columns)
      .filter(([name, { isRequired, default: value }]) => isNew(name) && isRequired && value === undefined)
      .map(([name]) => `requires the column ${table}.${name}`),
    ...lost(before.constraints, after.constraints).map((one) => `drops ${one} of ${table}`),
    ...lost(after.constraints, before.constraints)
      .filter((one) => !isOfNewColumns(one, after, isNew))
      .map((one) => `adds ${one} to ${table}`),
    ...lost(before.indexes, after.indexes)
      .filter(isUnique)
      .map((one) => `drops the index ${one}`),
    ...lost(after.indexes, before.indexes)
      .filter((one) => isUnique(one) && !isOfNewColumns(one, after, isNew))
      .map((one) => `adds the index ${one}`),
    ...changesOfTriggers(table, before, after),
  ];
}

function changesOfColumn(name: string, before: ColumnDescription, after: ColumnDescription): string[] {
  const isFilled = (value: string | undefined) => value === 'identity' || value === 'generated';
  return [
    ...(isSameOrWider(before.type, after.type)
      ? []
      : [`changes the type of ${name} from ${before.type} to ${after.type}`]),
    ...(after.isRequired && !before.isRequired ? [`requires the column ${name}`] : []),
    ...(before.isRequired && !after.isRequired ? [`lets the column ${name} be null`] : []),
    ...(before.default !== undefined && after.default === undefined ? [`drops the default of ${name}`] : []),
    ...(isFilled(after.default) && !isFilled(before.default)
      ? [`fills ${name} itself (${after.default})`]
      : []),
  ];
}

/** A text may become longer. Every other type is read, compared or sorted in another way. */
function isSameOrWider(before: string, after: string): boolean {
  const [earlier, now] = [lengthOf(before), lengthOf(after)];
  return before === after || (earlier !== undefined && now !== undefined && now >= earlier);
}

/** Returns the length of a text type; undefined for other types. */
function lengthOf(type: string): number | undefined {
  if (type === 'text') return Number.POSITIVE_INFINITY;
  const [isText, length] = /^character varying(?:\((\d+)\))?$/.exec(type) ?? [];
  if (isText === undefined) return undefined;
  return length === undefined ? Number.POSITIVE_INFINITY : Number(length);
}

const isUnique = (definition: string) => definition.startsWith('CREATE UNIQUE INDEX');

/**
 * Returns whether a constraint or index names only columns that a process of the release before does not
 * write, whose defaults satisfy it. Two rows with one default are not unique.
 */
function isOfNewColumns(
  definition: string,
  { columns }: TableDescription,
  isNew: (column: string) => boolean,
) {
  const named = Object.keys(columns).filter((column) => new RegExp(`\\b${column}\\b`).test(definition));
  if (named.length === 0 || !named.every(isNew)) return false;
  const isAboutPairs = /^(PRIMARY KEY|UNIQUE|EXCLUDE|CREATE UNIQUE)/.test(definition);
  return (
    !isAboutPairs ||
    named.every((column) => !columns[column]?.isRequired && columns[column]?.default === undefined)
  );
}

function changesOfTriggers(table: string, before: TableDescription, after: TableDescription): string[] {
  const [earlier, now] = [before.triggers, after.triggers];
  return [
    ...Object.keys(earlier)
      .filter((name) => now[name] === undefined)
      .map((name) => `drops the trigger ${name} of ${table}`),
    ...Object.keys(now)
      .filter((name) => now[name] !== earlier[name])
      .map(
        (name) =>
          `${earlier[name] === undefined ? 'adds' : 'changes'} the trigger ${name} ${earlier[name] === undefined ? 'to' : 'of'} ${table}`,
      ),
  ];
}

function changesOfFunctions(before: SchemaDescription, after: SchemaDescription): string[] {
  return Object.entries(before.functions).flatMap(([name, { returns, isSecurityDefiner }]) => {
    const now = after.functions[name];
    if (now === undefined) return [`drops the function ${name}`];
    if (now.returns !== returns) return [`changes the result of ${name} from ${returns} to ${now.returns}`];
    return isSecurityDefiner && !now.isSecurityDefiner ? [`runs ${name} with fewer rights`] : [];
  });
}

/** The rights of a service to the rows of its schema. */
export type RowRights = Pick<DatabaseAccess, 'privileges' | 'exceptions'>;

/** Returns the rights that a service loses to these tables, as sentences without a subject. */
export const revokedRights = (
  tables: readonly string[],
  before: RowRights,
  after: RowRights,
): readonly string[] =>
  tables.flatMap((table) =>
    lost(rightsTo(table, before), rightsTo(table, after)).map((right) => `revokes ${right} on ${table}`),
  );

const rightsTo = (table: string, { privileges, exceptions }: RowRights) => exceptions?.[table] ?? privileges;
