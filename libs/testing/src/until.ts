import { setTimeout as delay } from 'node:timers/promises';

/**
 * The longest that a test or a hook may take, in milliseconds, and the only limit that guards against hanging: a busy
 * machine makes tests slower, not red. The long form of the fault tests runs under load for many minutes.
 */
export const testLimitMs = process.env['FAULTS'] === 'long' ? 900_000 : 240_000;

/** The longest that a test waits for one thing, in milliseconds. It leaves time to say what did not happen. */
export const waitLimitMs = testLimitMs / 2;

/**
 * Waits until a condition holds, and checks it every 10 ms.
 * @param what what is waited for, as the message has it, when that is known
 * @throws Error when it does not hold after `waitLimitMs`.
 */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  what: () => string = () => isTrue.toString(),
): Promise<void> {
  for (const deadline = Date.now() + waitLimitMs; !(await isTrue()); await delay(10)) {
    if (Date.now() > deadline) throw new Error(`Did not happen in ${waitLimitMs} ms: ${what()}`);
  }
}
