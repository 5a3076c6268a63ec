import type { IncomingMessage } from 'node:http';
import { type Exchange, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';
import { parseCookie } from 'cookie';
import { Memory, type VisitedLaunch } from '../wire/visits.ts';
import type { Tokens } from './identity-provider.ts';

/**
 * The name of the cookie that opens the pages of one patient. Each patient's cookie has its own path, so two
 * windows with two patients never mix.
 */
export const sessionCookie = 'partner-session';

/**
 * A launch that the pages of the demo show. If another host application requested the launch, the id is empty,
 * and no page shows it.
 */
export type Visited = Pick<VisitedLaunch, 'id' | 'exchanges' | 'attempts'>;

type Opened = { readonly visited: Visited; readonly secret: string; readonly tokens: Tokens };
type Session = Opened & { readonly expiresAt: number; readonly refreshed: number };

/**
 * Creates the sessions of the partner application. The tokens stay in this backend.
 * @param refreshWith exchanges a refresh token
 */
export function createSessions(clock: Clock, refreshWith: (token: string) => Promise<Tokens>) {
  const sessions = new Memory<Session>();
  const store = (id: string, session: Opened, refreshed: number) => {
    const { expires_in: seconds = 0 } = session.tokens;
    sessions.set(id, { ...session, refreshed, expiresAt: clock.now() + seconds * 1000 });
  };
  const get = (id: string): Session => {
    const session = sessions.get(id);
    if (session === undefined) throw noSession();
    return session;
  };
  return {
    open: (id: string, session: Opened): void => store(id, session, 0),

    /** Returns the session of the window that sent a request. @throws ServiceError 401 */
    of(exchange: Exchange): Session {
      const session = get(textParameter(exchange, 'id'));
      if (session.secret !== cookiesOf(exchange.request)[sessionCookie]) throw noSession();
      return session;
    },

    /** Refreshes the tokens of a session, and returns the used refresh token. @throws ServiceError 401 */
    async refresh(id: string): Promise<string> {
      const session = get(id);
      const used = String(session.tokens.refresh_token);
      store(id, { ...session, tokens: await refreshWith(used) }, session.refreshed + 1);
      return used;
    },
  };
}

const noSession = () =>
  new ServiceError({ code: 'session_required', message: 'No patient is open in this window.' });

/** Returns the cookies of a request by name. */
export const cookiesOf = ({ headers }: IncomingMessage) => parseCookie(headers.cookie ?? '');
