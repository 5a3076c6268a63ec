export {
  launchSessionCookie,
  launchSessionCookieOptions,
  launchSessionIdleSeconds,
  openSessionCookie,
  readLaunchSessionCookies,
} from './launch-session.ts';
export { isOwnForm } from './own-form.ts';
export { pageHeaders } from './page-headers.ts';
export { readSentCookies } from './sent-cookies.ts';
