import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '@clinical-launch/http/server';

/** Returns the status that answers a callback. */
export type AnswerCallback = (headers: IncomingHttpHeaders, body: Buffer) => number;

/** Starts the callback address of a practice management system. `answerWith` sets the answers. */
export async function startCallbackReceiver() {
  let answer: AnswerCallback = () => 503;
  const server = await listen(
    async (request, response) => {
      response.writeHead(answer(request.headers, await buffer(request))).end();
    },
    { port: 0, host: '127.0.0.1' },
  );
  return {
    url: `http://127.0.0.1:${server.port}/callbacks`,
    stop: () => server.stop(),
    answerWith(next: AnswerCallback): void {
      answer = next;
    },
  };
}
