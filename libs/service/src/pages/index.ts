export {
  launchSessionCookie,
  launchSessionCookieOptions,
  launchSessionIdleSeconds,
  readLaunchSessionCookies,
} from './launch-session.ts';
export { pageHeaders } from './page-headers.ts';
