import type { IncomingMessage } from 'node:http';

/**
 * Returns the body of a request at minimal cost, for the bare servers that our services are compared with.
 */
export function bodyOf(request: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => resolve(Buffer.concat(chunks).toString()));
  return promise;
}
