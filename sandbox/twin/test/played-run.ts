import type { RunReport } from '@clinical-launch/conformance/run';
import { until } from '@clinical-launch/testing/until';
import type { PracticeAction } from './practice-system.ts';

/** The maximum number of actions in a run. */
const maxActions = 40;

type RunOf = { readonly url: string; readonly client: string };

type Player = {
  readonly act: (action: PracticeAction) => Promise<unknown>;
  /** Waits before the next action. */
  readonly wait: (seconds: number) => void;
};

/** Posts JSON to an endpoint of the twin. */
export const post = (address: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const reportIn = async (answer: Response): Promise<RunReport> => {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`);
  return JSON.parse(text);
};

/** Starts a run for a practice management system. */
export const startRun = async ({ url, client }: RunOf) =>
  reportIn(await post(`${url}/developers/runs?client=${client}`, {}));

/** Returns the report of a run. */
export const findRun = async (url: string, run: string) =>
  reportIn(await fetch(`${url}/developers/runs/${run}`));

/** Continues a run with its next step, or ends it. */
export const changeRun = async (url: string, run: string, change: 'skip' | 'finish') =>
  reportIn(await post(`${url}/developers/runs/${run}`, { do: change }));

/** Plays a run to its end: acts as each step says, and pauses before it tries a step again. */
export async function playRun({ url, client }: RunOf, { act, wait }: Player): Promise<RunReport> {
  let report = await startRun({ url, client });
  for (let actions = 0; report.step !== undefined; actions += 1) {
    const { step, run } = report;
    if (actions === maxActions) throw new Error(`${client} does not finish ${step.id}`);
    const isBehind = async () => {
      report = await findRun(url, run);
      return report.step?.id !== step.id;
    };
    if (step.action === 'wait') await until(isBehind);
    else {
      await act(step.action);
      if (!(await isBehind()) && step.pauseSeconds !== undefined) wait(step.pauseSeconds);
    }
  }
  return report;
}

/** Returns the result of each requirement by its id. */
export const resultsOf = ({ requirements }: RunReport) =>
  Object.fromEntries(requirements.map(({ id, result }) => [id, result]));
