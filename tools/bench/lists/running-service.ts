import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { client } from '../../../services/ordering/test/stored/invented-requests.ts';
import type { Memory } from './server.ts';

/** A launch session in a browser that does not follow redirects. */
export type Launch = {
  /** Fetches a page below the launch. @throws Error unless the answer is 200 */
  page(path: string): Promise<string>;
  /** Posts a form below the launch. @throws Error unless the answer is 303 */
  post(path: string, fields: Record<string, string>): Promise<void>;
};

/** Starts the service in a separate process. */
export async function startService(databaseUrl: string) {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    execArgv: ['--expose-gc'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The service exited');
  });
  const answer = async <Answer>() => {
    const [reported] = await Promise.race([once(child, 'message'), ended]);
    return reported as Answer;
  };
  const ask = <Answer>(question: LaunchContext | 'memory') => {
    child.send(question);
    return answer<Answer>();
  };
  const url = await answer<string>();
  return {
    memory: () => ask<Memory>('memory'),
    async launch(request: LaunchRequest): Promise<Launch> {
      const launchId = randomUUID();
      const ticket = await ask<string>({
        launchId,
        issuedAt: Date.now(),
        client: { ...client, frameAncestors: [] },
        request,
      });
      return launchOf({ url, launchId, cookie: `__Secure-launch-session=${ticket}` });
    },
    async stop() {
      child.kill();
      await ended.catch(() => undefined);
    },
  };
}

function launchOf({ url, launchId, cookie }: { url: string; launchId: string; cookie: string }): Launch {
  const base = `${url}/oltr/${launchId}/`;
  let cookies = cookie;
  const send = async (path: string, wanted: number, init: RequestInit = {}) => {
    const headers = { cookie: cookies };
    const response = await fetch(new URL(path, base), { redirect: 'manual', headers, ...init });
    // The first page of a launch sets the cookie of the browser.
    const browser = response.headers.getSetCookie().find((sent) => sent.startsWith('__Secure-browser='));
    if (browser !== undefined) cookies = `${cookie}; ${browser.split(';', 1)[0]}`;
    const text = await response.text();
    if (response.status !== wanted) throw new Error(`${path} was answered ${response.status}`);
    return text;
  };
  return {
    page: (path) => send(path, 200),
    async post(path, fields) {
      const body = new URLSearchParams({ launch: launchId, ...fields });
      await send(path, 303, { method: 'POST', body });
    },
  };
}
