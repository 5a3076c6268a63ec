import { connect } from 'node:net';

/**
 * Sends bytes to the server of a URL and resolves with the first bytes of its answer. Rejects if there is no
 * answer within a second.
 */
export async function exchangeBytes(url: string, question: string): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const socket = connect({ host: hostname, port: Number(port), timeout: 1000 })
    .once('connect', () => socket.write(question))
    .once('data', resolve)
    .once('error', reject)
    .once('timeout', () => reject(new Error('No answer')))
    .once('close', () => reject(new Error('Closed without an answer')));
  return promise.finally(() => socket.destroy());
}
