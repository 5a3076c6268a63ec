import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type OrderDocumentCallback, verifyCallback } from '@clinical-launch/pms-client';
import { size } from './size.ts';

/** An accepted callback. */
export type Callback = {
  /** The header `webhook-id`. */
  readonly id: string;
  /** GUID and version of the order in the callback. */
  readonly state: string;
};

/** A server that receives callbacks in place of the PMS. */
export type Receiver = {
  /** Used as `PLATFORM_URL`, because the demo's registry defines its callback relative to that address. */
  readonly url: string;
  /** Accepted callbacks in the order of arrival, duplicates included. */
  readonly taken: readonly Callback[];
  /** The delay before each answer, in milliseconds. */
  answerMs: number;
  /**
   * Whether the first attempt of every fifth document is answered 503, so that the delivery is retried
   * seconds later.
   */
  isRestarting: boolean;
  stop(): Promise<void>;
};

/** The secret of the callback in the demo's registry. */
const secrets = ['whsec_Y2xpbmljYWwtbGF1bmNoLWRlbW8tY2FsbGJhY2tzISE='];

/**
 * Starts a receiver on a free port. It accepts callbacks with a valid signature and answers 400 to other
 * callbacks.
 */
export async function startReceiver(): Promise<Receiver> {
  const taken: Callback[] = [];
  const seen = new Set<string>();
  const state = { answerMs: size.callbackMs, isRestarting: false };
  const server = createServer(async (request, response) => {
    const callback = await read(request);
    await delay(state.answerMs);
    response.statusCode = callback === undefined ? 400 : 204;
    if (callback !== undefined) {
      const { id, data } = callback;
      const isFirst = !seen.has(id);
      seen.add(id);
      if (state.isRestarting && isFirst && seen.size % 5 === 0) response.statusCode = 503;
      else taken.push({ id, state: `${data.orderGuid} ${data.orderVersion}` });
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, { url: `http://127.0.0.1:${port}`, taken, stop: () => stop(server) });
}

async function read(request: IncomingMessage): Promise<OrderDocumentCallback | undefined> {
  try {
    return verifyCallback({ headers: request.headers, body: await buffer(request), secrets });
  } catch {
    // The signature is invalid, or the body is incomplete because its sender was killed.
    return undefined;
  }
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
