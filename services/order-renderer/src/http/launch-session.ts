import type { IncomingMessage } from 'node:http';
import { type LaunchContext, parseLaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Call } from '@clinical-launch/http/call';
import { readLaunchSessionCookies } from '@clinical-launch/pages/launch-session';
import { launchOf } from '@clinical-launch/tickets/ticket-text';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { sessionRequired } from '../errors.ts';

type SessionSearch = {
  readonly tickets: Pick<Tickets, 'find'>;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  /**
   * Returns whether a session may read the document. Called only if the browser sent several live sessions.
   */
  readonly mayRead: (session: LaunchContext) => Promise<boolean>;
};

/**
 * Returns the launch session of a request. Reading a document does not extend it: a page that refreshes
 * automatically must not keep a session alive.
 * @throws ServiceError 401 when there is none
 */
export async function getLaunchSession(
  { tickets, isSecure, mayRead }: SessionSearch,
  request: IncomingMessage,
  call: Call,
): Promise<LaunchContext> {
  const sent = readLaunchSessionCookies(request, isSecure);
  if (sent[0] !== undefined) call.trace.follow(launchOf(sent[0]));
  const sessions = await Promise.all(sent.map((ticket) => findSession(tickets, ticket)));
  const [first, ...others] = sessions.filter((session) => session !== undefined);
  if (first === undefined) throw sessionRequired();
  if (others.length === 0) return first;
  for (const session of [first, ...others]) if (await mayRead(session)) return session;
  return first;
}

async function findSession(
  tickets: Pick<Tickets, 'find'>,
  ticket: string,
): Promise<LaunchContext | undefined> {
  const found = await tickets.find('launch-session', ticket);
  return found === undefined ? undefined : parseLaunchContext(found.context);
}
