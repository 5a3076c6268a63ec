import type { IncomingMessage } from 'node:http';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Call } from '@clinical-launch/http/call';
import { findLaunchSessions, readLaunchSessionCookies } from '@clinical-launch/pages/launch-session';
import { launchOf } from '@clinical-launch/tickets/ticket-format';
import type { Tickets } from '@clinical-launch/tickets/tickets';

type SessionSearch = {
  readonly tickets: Pick<Tickets, 'find'>;
  /** Whether the platform is served over https. */
  readonly isSecure: boolean;
  /**
   * Returns whether a session may read the document. Called only if the browser sent several valid sessions.
   */
  readonly mayRead: (session: LaunchContext) => Promise<boolean>;
};

/**
 * Returns the launch session of a request, or undefined without a valid session. Reading a document does not
 * extend the session, because a page that refreshes automatically must not keep a session alive.
 */
export async function getLaunchSession(
  { tickets, isSecure, mayRead }: SessionSearch,
  request: IncomingMessage,
  call: Call,
): Promise<LaunchContext | undefined> {
  const [sent] = readLaunchSessionCookies(request, isSecure);
  if (sent !== undefined) call.trace.follow(launchOf(sent));
  const [first, ...others] = await findLaunchSessions(tickets, request, { isSecure });
  if (first === undefined || others.length === 0) return first?.context;
  for (const { context } of [first, ...others]) if (await mayRead(context)) return context;
  return first.context;
}
