import { aServiceRequest } from '@clinical-launch/testing/service-request';
import type { Exchange } from '../src/exchange.ts';

type Recorded = {
  readonly path: string;
  readonly at?: number;
  readonly tookMs?: number;
  readonly body?: string;
  readonly answer?: object;
  readonly headers?: Readonly<Record<string, string>>;
} & Pick<Partial<Exchange>, 'direction' | 'fault'>;

/** The address of the recorded platform. */
export const origin = 'http://localhost:8080';

/** Returns a recorded exchange, by default answered with 200 at once. */
export function anExchange({
  path,
  at = 0,
  tookMs = 0,
  body = '',
  answer = {},
  headers = {},
  ...rest
}: Recorded) {
  const request = { method: 'POST', url: new URL(path, origin), headers, body, at };
  const answered = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
  return { direction: 'received', request, answer: answered, answeredAt: at + tookMs, ...rest } as const;
}

/** Returns an exchange that issues a launch URL for OrderTest. */
export const issued = (members: Partial<Recorded> = {}) =>
  anExchange({
    path: '/AccessApi/RequestLaunchUrl',
    body: JSON.stringify(aServiceRequest()),
    answer: { url: `${origin}/secureLaunch?launchToken=T` },
    ...members,
  });
/** Returns an exchange that opens the launch URL of `issued`. */
export const opened = (members: Partial<Recorded> = {}) =>
  anExchange({ path: '/secureLaunch?launchToken=T&codeVerifier=V', ...members });
