import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '@clinical-launch/conformance/recorder';
import { sendStatus } from '@clinical-launch/http/answer';
import { readBytes, readForm } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import { CallbackRefused, verifyCallback } from '@clinical-launch/pms-client';
import type { Clock } from '@clinical-launch/runtime/clock';
import { badRequest, getPatient } from '../records.ts';
import { timeOfDay } from '../shown-patient.ts';
import { type Simulation, simulated } from '../simulator.ts';
import type { ReturnedDocuments } from './returned-documents.ts';

/**
 * The secret of the callback. It is public, as all secrets of the demo are. The registry contains the sealed
 * secret.
 */
const secrets = ['whsec_Y2xpbmljYWwtbGF1bmNoLWRlbW8tY2FsbGJhY2tzISE='];

/** The ways in which the simulated PMS can answer callbacks, with the texts that its page shows. */
const answers = {
  take: 'Callbacks are accepted.',
  'refuse-two': 'The next two callbacks are answered 503, as if this system were restarting.',
  refuse: 'Every callback is answered 503, as if this system were down.',
} as const;
type Answer = keyof typeof answers;

const answerLabels: Readonly<Record<Answer, string>> = {
  take: 'Take callbacks',
  'refuse-two': 'Refuse the next two',
  refuse: 'Refuse all',
};

type SeenCallback = {
  /** `16:10:05` */
  readonly at: string;
  /** `webhook-id`. Empty for a callback that was refused before it was read. */
  readonly id: string;
  readonly outcome: string;
};

const shownCallbacks = 5;
const maxCallbackBytes = 1024 * 1024;

/** Creates the callback address of the simulated PMS, and the part of its page about callbacks. */
export function pmsCallbacks({ clock, sendTo, recorder, visits }: Simulation, documents: ReturnedDocuments) {
  const seen: SeenCallback[] = [];
  const filed = new BoundedMap<true>();
  let answer: Answer = 'take';
  let refusals = 0;

  const note = (id: string, outcome: string) => {
    seen.unshift({ at: timeOfDay(clock.now()), id, outcome });
    seen.splice(shownCallbacks);
  };

  const isRefused = () => {
    if (answer !== 'refuse-two') return answer === 'refuse';
    refusals += 1;
    if (refusals === 2) answer = 'take';
    return true;
  };

  const take: Handler = async ({ request, response, call }) => {
    if (isRefused()) {
      note('', 'answered 503');
      return sendStatus(response, 503);
    }
    const body = await readBytes({ request, response }, maxCallbackBytes);
    const { id, data } = readCallback(request, body, clock);
    const exchanges = visits.find(data.launchId)?.exchanges ?? [];
    const received = { sender: 'Platform', body: body.toString(), status: 204, reference: data.launchId };
    recorder.received(exchanges, request, received);
    const isRepeated = filed.has(id);
    if (!isRepeated) documents.file(data, 'callback');
    filed.set(id, true);
    note(id, isRepeated ? 'known already' : 'filed');
    call.adopt(data.launchId);
    sendStatus(response, 204);
  };

  const choose: Handler = async ({ request, response }) => {
    const form = await readForm({ request, response });
    const chosen = (Object.keys(answers) as Answer[]).find((name) => name === form.get('answer'));
    if (chosen === undefined) throw badRequest('Answer not found');
    answer = chosen;
    refusals = 0;
    sendTo(response, `/demo/pms?patient=${getPatient(form.get('patient')).id}`);
  };

  return {
    endpoints: [
      simulated('/demo/pms/callbacks', { POST: take }),
      simulated('/demo/pms/callbacks/answer', { POST: choose }),
    ],
    /** Returns the data that the page shows about callbacks. */
    shown: () => ({ answer, says: answers[answer], answerLabels, seen }),
  };
}

/**
 * Verifies a callback, and returns its content. The signature covers the received bytes.
 * @throws ServiceError 400 if the callback is not JSON, or the platform did not sign the callback
 */
function readCallback({ headers }: IncomingMessage, body: Buffer, clock: Clock) {
  if (headers['content-type']?.split(';')[0] !== 'application/json')
    throw badRequest('Send a callback as application/json');
  try {
    return verifyCallback({ headers, body, secrets, now: () => clock.now() });
  } catch (error) {
    if (error instanceof CallbackRefused) throw badRequest(`The callback is refused: ${error.code}`);
    throw error;
  }
}
