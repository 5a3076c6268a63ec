/** The longest that one request may keep the event loop from all others, in milliseconds. */
const budgetMs = 50;

/**
 * Milliseconds of processor time that this thread spends on something, its client and its server together: no less than
 * the event loop is blocked, and independent of what else the machine does.
 */
async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** A kernel may count processor time in ticks of 4 ms: a measurement must be of many of them. */
const measurableMs = 60;

/** Often enough that of each size one measurement is free of garbage collections, compilations and neighbours. */
const measurements = 5;

/** A growth that needs no further measurement: it would be 16 if the time were quadratic. */
const clearlyLinear = 6;

/**
 * How many times the processor time of `run` grows when its size grows four times: 4 when the time is linear, 16 when
 * it is quadratic. Both sizes are measured in turn, so that a machine that slows down slows both.
 */
export async function growthOf(run: (size: number) => unknown, size: number): Promise<number> {
  let rounds = 1;
  const repeat = async (of: number) => {
    for (let round = 0; round < rounds; round += 1) await run(of);
  };
  while ((await cpuMsOf(() => repeat(size))) < measurableMs) rounds *= 2;
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let time = 0; time < measurements; time += 1) {
    small = Math.min(small, await cpuMsOf(() => repeat(size)));
    large = Math.min(large, await cpuMsOf(() => repeat(4 * size)));
    if (time > 0 && large / small < clearlyLinear) break;
  }
  return large / small;
}

/**
 * Runs each of these, and names the first that costs more processor time than the budget; undefined when none does.
 * Test bodies are too long to be shown whole.
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
 * Attempts to stay within the budget. On a crowded machine processor time itself comes out two or three times too
 * long.
 */
const attempts = 20;

/**
 * The processor time of `run` in milliseconds. What seems to be over the budget of 50 ms is measured again, so that
 * neither a garbage collection nor a neighbour on the same core counts.
 */
async function costOf(run: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && least >= budgetMs; attempt += 1) {
    least = Math.min(least, await cpuMsOf(run));
  }
  return least;
}
