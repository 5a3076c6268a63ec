import { createHash, randomUUID } from 'node:crypto';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { pause } from '@clinical-launch/runtime/clock';
import { type Bench, cpuOf, cpuOfMachine, type Figure, quantile } from '../bench.ts';
import { openStage, type Stage } from './stage.ts';

/** The rate at which the latency is measured: half of the goal for draining. */
const offeredPerSecond = 2_500;
const appendsAtOnce = 64;
const pollMs = 4;
const programs = ['audit-trail', 'RabbitMQ', 'PostgreSQL', 'Redis'] as const;

/**
 * Returns the two events of each launch: the issued launch URL with the claim of the originating id, and the
 * redeemed launch token.
 */
function someEvents(count: number): CloudEvent[] {
  return Array.from({ length: count / 2 }, () => {
    const correlationId = randomUUID();
    const traceparent = `00-${randomUUID().replaceAll('-', '')}-${'2'.repeat(16)}-01`;
    const origin = { correlationId, traceparent, now: new Date() };
    const name = createHash('sha256').update(correlationId).digest('base64url');
    return [
      createEvent(
        'launch.url.issued.v1',
        { ...origin, source: '/launch-api' },
        {
          issuer: 'https://idp.example/idp/north/practice/v2.0',
          clientId: 'pms',
          action: 'OrderTest',
          ttlSeconds: 10,
          claim: { name, ttlSeconds: 34_560_000 },
        },
      ),
      createEvent('launch.token.redeemed.v1', { ...origin, source: '/launch-gateway' }, {}),
    ];
  }).flat();
}

type Drained = {
  readonly perSecond: number;
  /** Microseconds of CPU for each event, by program. */
  readonly cpuUs: PerProgram;
  readonly isDisturbed: boolean;
};

/** Appends events while audit-trail is paused, and measures how fast it stores them after it resumes. */
async function drain(stage: Stage, count: number): Promise<Drained> {
  const events = someEvents(count);
  const firstRow = await stage.newestRow();
  stage.pause();
  const queue = events.values();
  const append = async () => {
    for (const event of queue) await stage.append(event);
  };
  await Promise.all(Array.from({ length: appendsAtOnce }, append));
  const measured = await measure(stage, async () => {
    stage.resume();
    while ((await stage.newestRow()) < firstRow + count) await pause(20);
  });
  const { length } = await stage.rowsAfter(firstRow);
  if (length !== count) throw new Error(`${length} of ${count} events have a row`);
  return {
    perSecond: count / measured.seconds,
    cpuUs: mapPrograms((program) => measured.cpuUs[program] / count),
    isDisturbed: measured.isDisturbed,
  };
}

type PerProgram = Readonly<Record<(typeof programs)[number], number>>;

const mapPrograms = (valueOf: (program: (typeof programs)[number]) => number) =>
  Object.fromEntries(programs.map((program) => [program, valueOf(program)])) as PerProgram;

async function measure(stage: Stage, work: () => Promise<void>) {
  const processes = stage.processes();
  const pids = [process.pid, ...programs.flatMap((program) => processes[program])];
  const [before, machineBefore, startedAt] = [cpuOfEach(pids), cpuOfMachine(), performance.now()];
  await work();
  const [after, machineAfter, endedAt] = [cpuOfEach(pids), cpuOfMachine(), performance.now()];
  const spentBy = (some: readonly number[]) =>
    some.reduce((sum, pid) => sum + Math.max(0, (after.get(pid) ?? 0) - (before.get(pid) ?? 0)), 0);
  return {
    seconds: (endedAt - startedAt) / 1000,
    cpuUs: mapPrograms((program) => spentBy(processes[program])),
    isDisturbed: machineAfter - machineBefore - spentBy(pids) > (endedAt - startedAt) * 100,
  };
}

function cpuOfEach(pids: readonly number[]): ReadonlyMap<number, number> {
  return new Map(
    pids.flatMap((pid) => {
      try {
        return [[pid, cpuOf(pid)] as const];
      } catch {
        return [];
      }
    }),
  );
}

/**
 * Appends events at a constant rate. Returns quantiles of the time from the moment when an event was due
 * until its row is visible.
 */
async function offerEvenly(stage: Stage, seconds: number) {
  const events = someEvents(offeredPerSecond * seconds);
  let row = await stage.newestRow();
  const dueAt = new Map<string, number>();
  const took: number[] = [];
  const startedAt = performance.now();
  const offer = async () => {
    const sending: Promise<void>[] = [];
    for (const [index, event] of events.entries()) {
      const due = startedAt + (index * 1000) / offeredPerSecond;
      // Sleeps instead of busy waiting, because the programs need the core.
      while (performance.now() < due) await pause(1);
      dueAt.set(event.id, due);
      sending.push(stage.append(event));
    }
    await Promise.all(sending);
  };
  const watch = async () => {
    while (took.length < events.length) {
      const rows = await stage.rowsAfter(row);
      const now = performance.now();
      row = rows.at(-1)?.row ?? row;
      for (const { id } of rows) took.push(now - (dueAt.get(id) ?? now));
      await pause(pollMs);
    }
  };
  const { isDisturbed } = await measure(stage, async () => void (await Promise.all([offer(), watch()])));
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), isDisturbed };
}

/** Measures events from the outbox of tickets to the rows of the audit trail, with real programs. */
export const events: Bench = {
  name: 'events',
  async run({ short, progress }) {
    progress('starting Redis, RabbitMQ, PostgreSQL and audit-trail');
    const stage = await openStage();
    try {
      const rounds = short ? 1 : 5;
      const size = short ? 2_000 : 30_000;
      // The first rounds are warm-ups.
      for (let round = 0; round < (short ? 1 : 2); round += 1) await drain(stage, size);
      const drained: Drained[] = [];
      const offered: Awaited<ReturnType<typeof offerEvenly>>[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        progress(`round ${round} of ${rounds}`);
        drained.push(await drain(stage, size));
        offered.push(await offerEvenly(stage, short ? 1 : 5));
      }
      const disturbed = drained.filter(({ isDisturbed }) => isDisturbed).length;
      const disturbedOffers = offered.filter(({ isDisturbed }) => isDisturbed).length;
      return [
        {
          name: 'outbox to audit row, drain',
          unit: '/s',
          values: drained.map(({ perSecond }) => perSecond),
          disturbed,
          goal: { atLeast: 2 * offeredPerSecond },
        },
        ...programs.map(
          (program): Figure => ({
            name: `CPU of ${program} for each event`,
            unit: 'µs',
            values: drained.map(({ cpuUs }) => cpuUs[program]),
            disturbed,
          }),
        ),
        {
          name: `outbox to audit row at ${offeredPerSecond}/s, p50`,
          unit: 'ms',
          values: offered.map(({ p50 }) => p50),
          disturbed: disturbedOffers,
          goal: { atMost: 30 },
        },
        {
          name: `outbox to audit row at ${offeredPerSecond}/s, p99`,
          unit: 'ms',
          values: offered.map(({ p99 }) => p99),
          disturbed: disturbedOffers,
          goal: { atMost: 250 },
        },
      ];
    } finally {
      await stage.stop();
    }
  },
};
