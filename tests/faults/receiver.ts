import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type OrderDocumentCallback, verifyCallback } from '@clinical-launch/pms-client';
import { size } from './size.ts';

/** An accepted callback. */
export type Callback = {
  /** `webhook-id` */
  readonly id: string;
  /** GUID and version of the order in it. */
  readonly state: string;
};

/** The callback address of the PMS. */
export type Receiver = {
  /** Replaces the platform's own address, below which the registry of the demo has the callback. */
  readonly url: string;
  /** Each as often as it was accepted, in the order of arrival. */
  readonly taken: readonly Callback[];
  /** The milliseconds that it takes to answer. */
  answerMs: number;
  /** Whether it refuses every fifth document at first, which comes again seconds later. */
  isRestarting: boolean;
  stop(): Promise<void>;
};

/** From the demo's registry. */
const secrets = ['whsec_Y2xpbmljYWwtbGF1bmNoLWRlbW8tY2FsbGJhY2tzISE='];

/** Starts it on a free port. It accepts verified callbacks, and answers 400 to the rest. */
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
    // Badly signed, or incomplete because its sender was killed.
    return undefined;
  }
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
