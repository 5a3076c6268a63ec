import { ClientError, ResponseBodyError } from 'openid-client';
import type { Attempt } from '../wire/visits.ts';

/**
 * Seconds after which a used refresh token is refused. For ten seconds after the use of its successor, the
 * token is accepted again, because an answer can be lost.
 */
const afterRepetition = 11;

type Requests = {
  /** Sends the authorization request with the launch identifier. */
  readonly authorize: () => Promise<unknown>;
  /** Exchanges the authorization code for tokens. */
  readonly exchange: () => Promise<unknown>;
  /** Refreshes the tokens of the session, and returns the used refresh token. */
  readonly refresh: () => Promise<string>;
  readonly refreshWith: (token: string) => Promise<unknown>;
};

/**
 * Adds the attempts of a visitor after a desktop launch. Each attempt repeats a request that may succeed only
 * once.
 */
export function addReplays(attempts: Map<string, Attempt>, requests: Requests): void {
  const { authorize, exchange, refresh, refreshWith } = requests;
  attempts.set('identifier', {
    label: 'Launch identifier again: 400',
    explanation: 'Sends the authorization request of this launch a second time.',
    async send() {
      await authorize();
      return undefined;
    },
  });
  attempts.set('refresh', {
    label: 'Refresh token again: 400',
    explanation: `Refreshes the tokens twice, and sends the first refresh token ${afterRepetition} seconds later. It counts as stolen, so the launch is revoked.`,
    async send() {
      const used = await orRefused(refresh());
      if (used === undefined) return undefined;
      await orRefused(refresh());
      return { afterSeconds: afterRepetition, send: async () => void (await orRefused(refreshWith(used))) };
    },
  });
  attempts.set('code', {
    label: 'Code again: 400',
    explanation: 'Exchanges the code a second time. It counts as stolen, so the launch is revoked.',
    async send() {
      await orRefused(exchange());
      return undefined;
    },
  });
}

/** Ignores a refusal, which the visitor wants to see and which has been recorded. */
const orRefused = <Result>(request: Promise<Result>): Promise<Result | undefined> =>
  request.catch((error: unknown) => {
    if (error instanceof ResponseBodyError || error instanceof ClientError) return undefined;
    throw error;
  });
