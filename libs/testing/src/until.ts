import { setTimeout as delay } from 'node:timers/promises';

/**
 * The maximum milliseconds of a test or a hook, and the only protection against hanging tests. The limit is
 * so long that a busy machine makes tests slower, but never makes tests fail. The long fault tests run for
 * many minutes.
 */
export const testLimitMs = process.env['FAULTS'] === 'long' ? 900_000 : 240_000;

/**
 * The maximum milliseconds that a test waits for one condition. Half of the test's limit leaves time to
 * report the condition.
 */
export const waitLimitMs = testLimitMs / 2;

/** Returns the error of a wait that took too long. The rest of its test file is skipped. */
export const timeoutError = (message: string): Error =>
  Object.assign(new Error(message), { name: 'TimeoutError' });

/**
 * Waits until a condition is true. Checks the condition again after 10 ms plus twice the time of the last
 * check, so that the awaited work gets most of the CPU.
 * @param what the awaited condition, for the message
 * @throws TimeoutError when it is not true after `waitLimitMs`
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
    if (now > deadline) throw timeoutError(`Not true within ${waitLimitMs} ms: ${what()}`);
    await delay(10 + 2 * (now - checkedAt));
  }
}
