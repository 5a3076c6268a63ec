export {
  launchSessionCookie,
  launchSessionCookieOptions,
  launchSessionIdleSeconds,
  openSessionCookie,
  readLaunchSessionCookies,
} from './launch-session.ts';
export { pageHeaders } from './page-headers.ts';
