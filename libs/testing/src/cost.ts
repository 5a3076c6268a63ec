/** The longest time that one request may block the event loop, in milliseconds. */
const budgetMs = 50;

/**
 * Returns the milliseconds of processor time that this thread spends on a run, client and server together: at
 * least as long as the event loop is blocked, and independent of the machine's other load.
 */
async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Runs each of these, and names the first that needs more processor time than the budget; undefined if none
 * does. Test bodies are too long to be shown in full.
 */
export async function overBudget(
  bodies: readonly string[],
  run: (body: string) => unknown,
): Promise<string | undefined> {
  for (const [index, body] of bodies.entries()) {
    const spent = await costOf(() => run(body));
    if (spent >= budgetMs) return `${Math.round(spent)} ms for number ${index}: ${shortened(body)}`;
  }
  return undefined;
}

const shortened = (text: string) =>
  text.length < 300
    ? text
    : `${text.slice(0, 150)} … ${text.slice(text.length / 2, text.length / 2 + 150)} …`;

/**
 * Attempts to stay within the budget. On a busy machine, even processor time is measured two or three times
 * too long.
 */
const attempts = 20;

/**
 * Returns the processor time of `run` in milliseconds. Measures again if it seems to exceed the budget of 50
 * ms, so that neither a garbage collection nor other load on the same core counts.
 */
async function costOf(run: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && least >= budgetMs; attempt += 1) {
    least = Math.min(least, await cpuMsOf(run));
  }
  return least;
}
