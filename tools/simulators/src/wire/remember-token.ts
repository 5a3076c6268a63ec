import type { RecordedExchange } from './recorder.ts';

/**
 * Returns a function that adds the token request to what a launch sent. The client caches its token, so most
 * launches send none.
 */
export function rememberToken() {
  let last: RecordedExchange | undefined;
  return (sent: RecordedExchange[]): RecordedExchange[] => {
    const own = sent.find(({ line }) => line.endsWith('/token'));
    if (own === undefined && last !== undefined)
      return [{ ...last, note: 'Sent for an earlier launch: the token is used until it expires.' }, ...sent];
    last = own;
    return sent;
  };
}
