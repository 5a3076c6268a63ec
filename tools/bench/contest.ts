import { type BenchOptions, type Figure, measureCpu, ratios } from './bench.ts';
import { type RequestText, sendAll } from './load.ts';
import type { Measured } from './processes.ts';

/** The number of connections of a closed-loop load. */
export const connections = 32;

type Round = { readonly cpuUs: number; readonly isDisturbed: boolean };

async function round(server: Measured, requests: readonly RequestText[]): Promise<Round> {
  const measured = await measureCpu([server.pid, process.pid], async () => {
    await sendAll({ url: server.url, connections, requests });
  });
  return { ...measured, cpuUs: measured.cpuUs / requests.length };
}

/** A measured program that is compared with other programs. */
export type Contender = { readonly name: string; readonly server: Measured };

/** Runs rounds in which the contenders take turns. The first rounds are warm-ups. */
export async function runContest(
  contenders: readonly Contender[],
  requests: (contender: Contender) => Promise<readonly RequestText[]>,
  { rounds, warmUps, progress }: { rounds: number; warmUps: number; progress: BenchOptions['progress'] },
): Promise<ReadonlyMap<string, readonly Round[]>> {
  const results = new Map<string, Round[]>(contenders.map(({ name }) => [name, []]));
  for (let index = -warmUps; index < rounds; index += 1) {
    progress(index < 0 ? 'warming up' : `round ${index + 1} of ${rounds}`);
    for (const contender of contenders) {
      const { name, server } = contender;
      const result = await round(server, await requests(contender));
      if (index >= 0) results.get(name)?.push(result);
    }
  }
  return results;
}

/** Returns the CPU per request of each contender. */
export function figuresOf(row: string, results: ReadonlyMap<string, readonly Round[]>): Figure[] {
  return [...results].map(([name, rounds]) => ({
    name: `${row}, ${name}`,
    unit: 'µs',
    values: rounds.map(({ cpuUs }) => cpuUs),
    disturbed: rounds.filter(({ isDisturbed }) => isDisturbed).length,
  }));
}

/** Returns the ratio of a contender's cost to the cost of our service in each round. */
export function shareOf(figures: readonly Figure[], row: string, limit: string, atLeast: number): Figure {
  const valuesOf = (name: string) =>
    figures.find((figure) => figure.name === `${row}, ${name}`)?.values ?? [];
  const ours = figures[0]?.values ?? [];
  return {
    name: `${row}: ${limit} ÷ ours`,
    unit: '×',
    values: ratios(valuesOf(limit), ours),
    goal: { atLeast },
  };
}
