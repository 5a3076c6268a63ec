import type { ServerResponse } from 'node:http';
import type { Admission, Place } from './call.ts';
import { temporarilyUnavailable } from './errors.ts';

/** The default. In a process with all services, requests may wait for each other. */
const defaultLimit = 128;

/** The maximum milliseconds that a request waits for its place. */
const defaultWaitMs = 2000;

type Queue = Set<() => void>;

/**
 * Limits the requests that a process works on at the same time, so that an overload is answered early: a
 * request that has begun is answered in time, and the others receive 503 before they cost any work.
 */
export function createAdmission({
  limit = defaultLimit,
  waitMs = defaultWaitMs,
}: {
  readonly limit?: number;
  readonly waitMs?: number;
} = {}): Admission {
  let working = 0;
  // In the order in which waiting requests receive free places.
  const [begun, ofSessions, newLaunches]: readonly [Queue, Queue, Queue] = [new Set(), new Set(), new Set()];

  const leave = () => {
    working -= 1;
    const queue = [begun, ofSessions, newLaunches].find(({ size }) => size > 0);
    const [admitFirst] = queue ?? [];
    if (working < limit) admitFirst?.();
  };
  const take = () => {
    working += 1;
  };
  const wait = (queue: Queue, response: ServerResponse) =>
    waitIn(queue, { response, waitMs, onAdmitted: take });
  const placeOf = (response: ServerResponse): Place => {
    let isHeld = true;
    const leaveOnce = () => {
      if (isHeld) leave();
      isHeld = false;
    };
    return {
      leave: leaveOnce,
      async yieldWhile(slow) {
        leaveOnce();
        const result = await slow;
        if (working < limit) take();
        else await wait(begun, response);
        isHeld = true;
        return result;
      },
    };
  };
  return {
    enter(response, { isNewLaunch }) {
      if (working >= limit)
        return wait(isNewLaunch ? newLaunches : ofSessions, response).then(() => placeOf(response));
      take();
      return placeOf(response);
    },
  };
}

type Waiting = {
  readonly response: ServerResponse;
  readonly waitMs: number;
  readonly onAdmitted: () => void;
};

function waitIn(queue: Queue, { response, waitMs, onAdmitted }: Waiting): Promise<void> {
  return new Promise((resolve, reject) => {
    const admit = () => {
      end();
      onAdmitted();
      resolve();
    };
    const giveUp = () => {
      end();
      reject(temporarilyUnavailable('The service is busy', { retryAfterSeconds: 2 }));
    };
    const timer = setTimeout(giveUp, waitMs);
    const end = () => {
      clearTimeout(timer);
      response.off('close', giveUp);
      queue.delete(admit);
    };
    queue.add(admit);
    response.once('close', giveUp);
  });
}
