import { type QueryExecutorProvider, sql } from 'kysely';

/** What a schema offers to the statements of a service, by names in alphabetical order. */
export type SchemaDescription = {
  readonly tables: Readonly<Record<string, TableDescription>>;
  readonly sequences: readonly string[];
  /** By name and types of arguments. */
  readonly functions: Readonly<Record<string, FunctionDescription>>;
};

export type TableDescription = {
  readonly columns: Readonly<Record<string, ColumnDescription>>;
  /** Definitions of primary key, unique, check, exclusion and foreign key constraints. */
  readonly constraints: readonly string[];
  /** Definitions of the indexes that belong to no constraint, without their names. */
  readonly indexes: readonly string[];
  readonly triggers: Readonly<Record<string, string>>;
};

export type ColumnDescription = {
  readonly type: string;
  readonly isRequired: boolean;
  /** The expression; `identity` or `generated` for columns that PostgreSQL fills. */
  readonly default?: string;
};

export type FunctionDescription = {
  readonly returns: string;
  readonly isSecurityDefiner: boolean;
  /** MD5 of the body, which shows that two schemas have the same one. */
  readonly body: string;
};

/**
 * Describes a schema from the catalogue of PostgreSQL, without the tables in which Kysely records migrations.
 */
export async function describeSchema(
  database: QueryExecutorProvider,
  schema: string,
): Promise<SchemaDescription> {
  const { rows: columns } = await columnsIn(schema).execute(database);
  const { rows: details } = await detailsIn(schema).execute(database);
  const { rows: sequences } = await sequencesIn(schema).execute(database);
  const { rows: functions } = await functionsIn(schema).execute(database);
  const columnsOf = Map.groupBy(columns, ({ table }) => table);
  const detailsOf = Map.groupBy(details, ({ table, kind }) => `${kind} ${table}`);
  const definitions = (kind: string, table: string) =>
    (detailsOf.get(`${kind} ${table}`) ?? []).map(({ definition }) => definition).toSorted();
  return {
    tables: byName(
      [...columnsOf],
      ([table]) => table,
      ([table, its]) => ({
        columns: byName(its, ({ name }) => name, columnOf),
        constraints: definitions('constraint', table),
        indexes: definitions('index', table),
        triggers: byName(
          detailsOf.get(`trigger ${table}`) ?? [],
          ({ name }) => name,
          ({ definition }) => definition,
        ),
      }),
    ),
    sequences: sequences.map(({ name }) => name).toSorted(),
    functions: byName(
      functions,
      ({ name }) => name,
      ({ returns, isSecurityDefiner, body }) => ({ returns, isSecurityDefiner, body }),
    ),
  };
}

/** Returns an object with its members in alphabetical order, whatever the collation of the database is. */
function byName<Row, Value>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  valueOf: (row: Row) => Value,
): Readonly<Record<string, Value>> {
  const named = rows.map((row) => [nameOf(row), valueOf(row)] as const);
  return Object.fromEntries(named.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

type ColumnRow = { table: string; name: string; type: string; isRequired: boolean; default: string | null };

const columnOf = ({ type, isRequired, default: value }: ColumnRow): ColumnDescription => ({
  type,
  isRequired,
  ...(value === null ? {} : { default: value }),
});

/** Partitions have the columns of their table. */
const columnsIn = (schema: string) => sql<ColumnRow>`
  select relname as table, attname as name, format_type(atttypid, atttypmod) as type,
    attnotnull as "isRequired",
    case when attidentity <> '' then 'identity' when attgenerated <> '' then 'generated'
      else pg_get_expr(adbin, adrelid) end as default
  from pg_attribute join pg_class on pg_class.oid = attrelid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition
    and attnum > 0 and not attisdropped and relname not like 'kysely%'`;

/** A sequence of an identity column is not listed. */
const sequencesIn = (schema: string) => sql<{ name: string }>`
  select relname as name from pg_class c where relnamespace = ${schema}::regnamespace and relkind = 'S'
    and not exists (select from pg_depend where objid = c.oid and deptype = 'i')`;

type DetailRow = { table: string; kind: string; name: string; definition: string };

/** Newer releases of PostgreSQL also list what is not null as constraints (`n`). */
const detailsIn = (schema: string) => sql<DetailRow>`
  with tables as (
    select oid, relname from pg_class
    where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not like 'kysely%'
  )
  select relname as table, 'constraint' as kind, conname as name, pg_get_constraintdef(c.oid) as definition
  from pg_constraint c join tables on conrelid = tables.oid where contype in ('p', 'u', 'c', 'x', 'f')
  union all
  select relname, 'index', indexrelid::regclass::text,
    regexp_replace(pg_get_indexdef(indexrelid), '^(CREATE (UNIQUE )?INDEX) \\S+', '\\1')
  from pg_index join tables on indrelid = tables.oid
  where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
  union all
  select relname, 'trigger', tgname, pg_get_triggerdef(t.oid)
  from pg_trigger t join tables on tgrelid = tables.oid where not tgisinternal`;

const functionsIn = (schema: string) => sql<FunctionDescription & { name: string }>`
  select proname || '(' || pg_get_function_identity_arguments(oid) || ')' as name,
    pg_get_function_result(oid) as returns, prosecdef as "isSecurityDefiner", md5(prosrc) as body
  from pg_proc where pronamespace = ${schema}::regnamespace`;
