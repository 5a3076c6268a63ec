import { compileSchema, guidPattern, practiceBindingSchema } from '@clinical-launch/contracts';
import { readLaunchSessionCookies } from '@clinical-launch/service/pages';
import type { Tickets } from '@clinical-launch/tickets';
import type { Request } from 'express';
import { type Static, Type } from 'typebox';
import { sessionRequired } from '../errors.ts';

/** What is read here of a `LaunchContext`. */
const sessionContext = Type.Object({
  launchId: Type.String({ pattern: guidPattern }),
  client: Type.Object({
    frameAncestors: Type.Array(Type.String()),
    practices: Type.Optional(practiceBindingSchema),
  }),
});
const compiled = compileSchema(sessionContext);

export type LaunchSession = Static<typeof sessionContext>;

type SessionSearch = {
  readonly tickets: Pick<Tickets, 'find'>;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  /** Whether a session may read the document in question. Called only if the browser sent several live sessions. */
  readonly mayRead: (session: LaunchSession) => Promise<boolean>;
};

/**
 * Returns the launch session behind a request. Reading a document does not prolong it: a page that refreshes by itself
 * must not keep a session alive.
 * @throws ServiceError 401 when there is none.
 */
export async function getLaunchSession(
  { tickets, isSecure, mayRead }: SessionSearch,
  request: Request,
): Promise<LaunchSession> {
  const sessions = await Promise.all(
    readLaunchSessionCookies(request, isSecure).map((ticket) => findSession(tickets, ticket)),
  );
  const [first, ...others] = sessions.filter((session) => session !== undefined);
  if (first === undefined) throw sessionRequired();
  if (others.length === 0) return first;
  for (const session of [first, ...others]) if (await mayRead(session)) return session;
  return first;
}

async function findSession(
  tickets: Pick<Tickets, 'find'>,
  ticket: string,
): Promise<LaunchSession | undefined> {
  const found = await tickets.find('launch-session', ticket);
  if (found === undefined) return undefined;
  if (!compiled.is(found.context)) throw new TypeError('A launch session holds no launch context');
  return found.context;
}
