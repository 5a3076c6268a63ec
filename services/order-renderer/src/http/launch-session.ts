import { actions, compileSchema, guidPattern } from '@clinical-launch/contracts';
import { readLaunchSessionCookie } from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';
import type { Request } from 'express';
import { type Static, Type } from 'typebox';
import { sessionRequired } from '../errors.ts';

/** What is read here of a `LaunchContext`. */
const sessionContext = Type.Object({
  launchId: Type.String({ pattern: guidPattern }),
  client: Type.Object({ frameAncestors: Type.Array(Type.String()) }),
  request: Type.Object({ action: Type.Enum([...actions]) }),
});
const compiled = compileSchema(sessionContext);

export type LaunchSession = Static<typeof sessionContext>;

/**
 * The launch session behind a request. Reading a document does not prolong it: a page that asks again by itself
 * must not keep a session alive.
 * @throws ServiceError 401 when there is none.
 */
export async function getLaunchSession(
  tickets: Pick<Tickets, 'find'>,
  request: Request,
): Promise<LaunchSession> {
  const ticket = readLaunchSessionCookie(request);
  const found = ticket === undefined ? undefined : await tickets.find('launch-session', ticket);
  if (found === undefined) throw sessionRequired();
  if (!compiled.is(found.context)) throw new TypeError('A launch session holds no launch context');
  return found.context;
}
