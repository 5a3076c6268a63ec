import { openPms } from './pms.ts';
import { sendRequest } from './send-request.ts';
import type { System } from './system.ts';

export type Race = {
  /** The number of attempts answered with each status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** For each token, the number of attempts answered with 200. */
  readonly winners: readonly number[];
};

type RaceOptions = { readonly tokens: number; readonly attemptsEach: number };

/** The number of tokens raced at the same time. */
const lanes = 8;

/** Sends many simultaneous requests for each of many launch tokens, alternating between the gateways. */
export async function raceTokens(system: System, { tokens, attemptsEach }: RaceOptions): Promise<Race> {
  const pms = await openPms(system);
  const launchApis = system.replicasOf('launch-api');
  const gateways = system.replicasOf('launch-gateway');
  const statuses: Record<number, number> = {};
  const winners: number[] = [];
  let begun = 0;

  const raceOne = async (number: number) => {
    const path = await pms.requestLaunch(launchApis[number % launchApis.length]?.url ?? '');
    const attempts = Array.from({ length: attemptsEach }, (_, attempt) =>
      sendRequest({ url: `${gateways[attempt % gateways.length]?.url}${path}` }),
    );
    const answers = await Promise.all(attempts);
    for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
    winners.push(answers.filter(({ status }) => status === 200).length);
  };
  const runLane = async () => {
    while (begun < tokens) {
      begun += 1;
      await raceOne(begun);
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return { statuses, winners };
}
