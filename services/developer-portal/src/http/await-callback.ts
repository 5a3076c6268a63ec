import { closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { sendJson, sendStatus } from '@clinical-launch/http/answer';
import { type Endpoint, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError, tooMany } from '@clinical-launch/http/errors';
import type { Portal } from './portal.ts';
import { readMembers } from './read-members.ts';

const answerSchema = compileSchema(
  closedObject({ status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })) }),
);

/**
 * Creates the endpoints of the command `listen`. The command polls for the next callback of its client with
 * POST, because a link of another website could send a GET and so take the callback. The command reports the
 * status that the developer's system answered, or no status if the system did not answer.
 */
export const awaitCallbacks = (portal: Portal): readonly Endpoint[] => {
  const { listeners } = portal;
  return [
    portal.behindSignIn('/developers/callbacks/next', {
      async POST({ response, client: { clientId } }) {
        if (listeners.isFull(clientId))
          throw tooMany(5000, { message: 'Too many commands listen for this client. Stop one of them' });
        const closed = new AbortController();
        response.once('close', () => closed.abort());
        const handed = await listeners.next(clientId, closed.signal);
        if (handed === undefined) sendStatus(response, 204);
        else sendJson(response, handed);
      },
    }),
    portal.behindSignIn('/developers/callbacks/:id/answer', {
      async POST(visit) {
        const { status } = await readMembers(visit, answerSchema);
        if (!listeners.answer(visit.client.clientId, textParameter(visit, 'id'), status))
          throw new ServiceError({
            code: 'not_found',
            message: 'No callback with this id waits for an answer',
          });
        sendStatus(visit.response, 204);
      },
    }),
  ];
};
