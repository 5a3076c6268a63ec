import { randomUUID } from 'node:crypto';
import { answerMs, type Message } from '../domain/callbacks.ts';

/** The milliseconds for which a poll waits. The edge ends requests after 20 seconds. */
const pollMs = 15_000;
/** The milliseconds after a poll for which the portal expects the listener to poll again. */
const returnMs = 5000;
const maxPolls = 10;

/** A message that was handed to a listener. The listener answers it by this id. */
export type HandedMessage = Message & { readonly id: string };

type Poll = (message?: HandedMessage) => void;
type Line = { readonly polls: Set<Poll>; readonly queue: HandedMessage[]; returning?: NodeJS.Timeout };
type Settle = (status: number | undefined) => void;

/**
 * Creates the queues from which `listen` commands receive messages. Each message goes to one listener. If that
 * listener does not answer, the message has no status, so the platform sends it again.
 */
export function createListeners() {
  const lines = new Map<string, Line>();
  const handed = new Map<string, { readonly clientId: string; readonly settle: Settle }>();
  const lineOf = (clientId: string): Line => lines.get(clientId) ?? { polls: new Set(), queue: [] };

  const match = ({ polls, queue }: Line) => {
    const [poll] = polls;
    if (poll !== undefined && queue.length > 0) poll(queue.shift());
  };

  return {
    /** Returns true if a listener of the client is polling, or is expected to poll again. */
    isListening(clientId: string): boolean {
      const { polls, returning } = lineOf(clientId);
      return polls.size > 0 || returning !== undefined;
    },

    /** Returns true if the client has the maximum number of polling listeners. */
    isFull: (clientId: string): boolean => lineOf(clientId).polls.size >= maxPolls,

    /**
     * Hands a message to the next listener.
     * @returns the status of the answer, or undefined if the listener does not answer
     */
    hand(clientId: string, message: Message): Promise<number | undefined> {
      const line = lineOf(clientId);
      const waiting = { ...message, id: randomUUID() };
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const settle: Settle = (status) => {
        clearTimeout(timer);
        handed.delete(waiting.id);
        if (line.queue.includes(waiting)) line.queue.splice(line.queue.indexOf(waiting), 1);
        resolve(status);
      };
      const timer = setTimeout(settle, answerMs, undefined).unref();
      handed.set(waiting.id, { clientId, settle });
      line.queue.push(waiting);
      lines.set(clientId, line);
      match(line);
      return promise;
    },

    /** Waits for the next message of a client. @returns undefined if there was none, or the poll was closed */
    next(clientId: string, closed: AbortSignal): Promise<HandedMessage | undefined> {
      const line = lineOf(clientId);
      lines.set(clientId, line);
      const { promise, resolve } = Promise.withResolvers<HandedMessage | undefined>();
      const end = (message?: HandedMessage) => {
        clearTimeout(timer);
        line.polls.delete(end);
        clearTimeout(line.returning);
        // A listener that closed its connection does not poll again.
        if (closed.aborted) delete line.returning;
        else line.returning = setTimeout(() => delete line.returning, returnMs).unref();
        resolve(message);
      };
      const timer = setTimeout(end, pollMs).unref();
      closed.addEventListener('abort', () => line.polls.has(end) && end());
      line.polls.add(end);
      match(line);
      return promise;
    },

    /**
     * Answers a message that was handed to a listener of the client.
     * @param status the status of the developer's system, or undefined if it did not answer
     * @returns false if no such message waits for an answer
     */
    answer(clientId: string, id: string, status: number | undefined): boolean {
      const waiting = handed.get(id);
      if (waiting?.clientId !== clientId) return false;
      waiting.settle(status);
      return true;
    },
  };
}
