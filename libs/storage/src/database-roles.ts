import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';

export type RowPrivilege = 'select' | 'insert' | 'update' | 'delete';

/** The login role of one service, which can access one schema and owns nothing. */
export type DatabaseRole = {
  readonly name: string;
  readonly password: string;
  readonly schema: string;
  readonly privileges: readonly RowPrivilege[];
  readonly exceptions?: Readonly<Record<string, readonly RowPrivilege[]>>;
};

/**
 * Creates the missing roles, sets the passwords of all roles, and gives each role exactly the rights in
 * `roles`. Revokes the rights of `PUBLIC` to the database and to the schema `public`. This function can be
 * repeated, and several processes can run it at once. The schemas and their tables must exist, and the role
 * of `url` must own them and have CREATEROLE.
 * @throws TypeError when two roles share a name. Error when an existing role has more rights than a service
 *   may have
 */
export async function separateRoles(url: string, roles: readonly DatabaseRole[]): Promise<void> {
  const names = roles.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new TypeError('Each service needs its own database role');
  const client = new pg.Client({ connectionString: url, application_name: 'ops migrate' });
  await client.connect();
  try {
    await client.query('begin');
    // Two commands that change the same grants at once would fail with "tuple concurrently updated".
    await client.query(`select pg_advisory_xact_lock(hashtext('clinical-launch roles'))`);
    const database = await closeToPublic(client);
    for (const role of roles) {
      await createRole(client, role);
      await client.query(`grant connect on database ${database} to ${quote(role.name)}`);
      await grantSchema(client, role);
    }
    await client.query('commit');
  } finally {
    await client.end();
  }
}

const quote = (name: string) => pg.escapeIdentifier(name);

async function closeToPublic(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const database = quote(rows[0]?.name ?? '');
  await client.query(`revoke all on database ${database} from public`);
  await client.query('revoke all on schema public from public');
  return database;
}

async function grantSchema(client: pg.Client, role: DatabaseRole): Promise<void> {
  const [name, schema] = [quote(role.name), quote(role.schema)];
  await client.query(`revoke all on schema ${schema} from ${name}`);
  await client.query(`revoke all on all tables in schema ${schema} from ${name}`);
  await client.query(`grant usage on schema ${schema} to ${name}`);
  await client.query(`grant ${role.privileges.join(', ')} on all tables in schema ${schema} to ${name}`);
  // `nextval` needs this right, except for the sequence of an identity column.
  await client.query(`grant usage on all sequences in schema ${schema} to ${name}`);
  for (const [table, privileges] of Object.entries(role.exceptions ?? {})) {
    await client.query(`revoke all on ${schema}.${quote(table)} from ${name}`);
    await client.query(`grant ${privileges.join(', ')} on ${schema}.${quote(table)} to ${name}`);
  }
  // Only the owner records migrations. The service reads them to check that none is pending.
  for (const table of ['kysely_migration', 'kysely_migration_lock']) {
    await client.query(`revoke all on ${schema}.${quote(table)} from ${name}`);
    await client.query(`grant select on ${schema}.${quote(table)} to ${name}`);
  }
}

async function createRole(client: pg.Client, { name, password }: DatabaseRole): Promise<void> {
  const { rows } = await client.query<{ excess: boolean }>(
    `select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolname = current_user
       or exists (select from pg_auth_members where member = pg_roles.oid)
       or exists (select from pg_class where relowner = pg_roles.oid)
       or exists (select from pg_namespace where nspowner = pg_roles.oid) as excess
     from pg_roles where rolname = $1`,
    [name],
  );
  if (rows.some(({ excess }) => excess)) {
    throw new Error(
      `The role ${name} has more rights than a service may have. Use another role in its database-url`,
    );
  }
  const verb = rows.length === 0 ? 'create' : 'alter';
  await client.query(
    `${verb} role ${quote(name)} login password ${pg.escapeLiteral(scramVerifier(password))}`,
  );
}

/** The number of SCRAM iterations, which is the default of PostgreSQL. */
const iterations = 4096;

/**
 * Returns a password in the form that PostgreSQL stores (RFC 5803, SCRAM-SHA-256), so that no statement and
 * no server log contains the password itself. Accepts only ASCII, because other characters would need
 * SASLprep (RFC 4013).
 * @throws TypeError for a password with other characters
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  if (!/^[\x21-\x7e]+$/.test(password))
    throw new TypeError('A database password must contain only printable ASCII characters');
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
