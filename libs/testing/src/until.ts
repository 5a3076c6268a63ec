import { setTimeout as delay } from 'node:timers/promises';

/**
 * The longest time of a test or a hook, in milliseconds, and the only limit against hanging: a busy machine
 * makes tests slower, not red. The long form of the fault tests runs under load for many minutes.
 */
export const testLimitMs = process.env['FAULTS'] === 'long' ? 900_000 : 240_000;

/**
 * The longest time that a test waits for one condition, in milliseconds. It leaves time to report what did
 * not happen.
 */
export const waitLimitMs = testLimitMs / 2;

/**
 * Waits until a condition is true. Checks it again after 10 ms and twice the time of the last check, so that
 * waiting leaves the machine to what is awaited.
 * @param what the awaited condition, for the message
 * @throws Error when it is not true after `waitLimitMs`
 */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  what: () => string = () => isTrue.toString(),
): Promise<void> {
  const deadline = performance.now() + waitLimitMs;
  for (;;) {
    const checkedAt = performance.now();
    if (await isTrue()) return;
    const now = performance.now();
    if (now > deadline) throw new Error(`Did not happen in ${waitLimitMs} ms: ${what()}`);
    await delay(10 + 2 * (now - checkedAt));
  }
}
