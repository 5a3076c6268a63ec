import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { type SqlBool, sql } from 'kysely';
import type { OrderingDatabase } from './database.ts';
import { isVisible, ofEachCode, type Visibility } from './keys.ts';

export type Requester = LaunchRequest['requester'];

/** The maximum number of requesters in the list box. A practice has fewer. */
const maxRequesters = 200;

/**
 * Finds the requesters of the requests that a launch for a practice can see. Each requester has the name in
 * their newest request, preferably under the practice's own code.
 */
export async function findRequesters(
  database: OrderingDatabase,
  visibility: Visibility,
): Promise<Requester[]> {
  const found = await Promise.all(ofEachCode(visibility).map((seen) => findUnderCode(database, seen)));
  const named = found.toReversed().flat();
  return [...new Map(named.map((one) => [JSON.stringify(one.identifier), one])).values()];
}

/** Reads one index entry for each requester, not for each request (a loose index scan). */
async function findUnderCode(database: OrderingDatabase, visibility: Visibility): Promise<Requester[]> {
  const identifier = sql`parties -> 'requester' -> 'identifier'`;
  const seen = database.selectFrom('test_requests').where(isVisible(visibility));
  const ordered = seen.select(identifier.as('identifier')).orderBy(identifier).limit(1);
  const next = ordered.where(sql<SqlBool>`${identifier} > found.identifier`);
  const name = seen
    .select(sql`parties -> 'requester' -> 'name'`.as('name'))
    .where(sql<SqlBool>`${identifier} = found.identifier`)
    .orderBy('created_at', 'desc')
    .limit(1);
  const { rows } = await sql<Requester>`
    with recursive found as (
      select ${ordered} as identifier
      union all
      select ${next} from found where identifier is not null
    )
    select identifier, ${name} as name from found where identifier is not null limit ${maxRequesters}
  `.execute(database);
  return rows;
}
