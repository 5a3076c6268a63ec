import { randomUUID } from 'node:crypto';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Attributed } from './attribution.ts';
import { type Exchange, endpointOf, type ProxiedRequest } from './exchange.ts';
import type { FaultName } from './faults.ts';
import type { Outgoing, Protocol, Requirement, Step, StepTools } from './requirement.ts';

/** The results of a requirement: `unseen` if the run ended before the client showed it. */
export const results = ['passed', 'failed', 'waiting', 'unseen', 'attested', 'unattested'] as const;

export type Result = (typeof results)[number];

export type ReportedRequirement = Pick<Requirement, 'id' | 'title' | 'guide'> & {
  readonly result: Result;
  /** What was wrong, or who attested the requirement. */
  readonly finding?: string;
};

/** The report of a run. Contains no secrets and no patient data. */
export type RunReport = {
  readonly run: string;
  readonly client: string;
  readonly protocol: Protocol['name'];
  /** ISO 8601. */
  readonly startedAt: string;
  readonly state: 'running' | 'finished';
  readonly step?: {
    readonly id: string;
    readonly action: Step['action'];
    readonly instruction: string;
    readonly number: number;
    readonly of: number;
    readonly launchUrl?: string;
    readonly pauseSeconds?: number;
  };
  /** The correlation ids of the launches that the run saw. */
  readonly launches: readonly string[];
  readonly requirements: readonly ReportedRequirement[];
};

/** The names of the people who attest the requirements that no exchange can show, by requirement id. */
export type Attestations = Readonly<Record<string, string>>;

export type RunOptions = {
  readonly clientId: string;
  readonly protocol: Protocol;
  readonly attestations: Attestations;
  readonly clock: Clock;
  /** Posts a message to the address of the client. Absent if the client registered no address. */
  readonly post?: (message: Outgoing) => Promise<Exchange>;
  readonly tools: Omit<StepTools, 'send' | 'now'>;
};

/** The maximum number of exchanges of a run. A run that exceeds it finishes. */
const maxExchanges = 5000;

export type Run = ReturnType<typeof createRun>;

/**
 * Creates a conformance run for one client. The run goes through the steps of a protocol, watches the
 * exchanges of the client, and judges each requirement after each exchange.
 */
export function createRun({ clientId, protocol, attestations, clock, post, tools }: RunOptions) {
  const id = randomUUID();
  const startedAt = new Date(clock.now()).toISOString();
  const exchanges: Exchange[] = [];
  const applies = ({ needs }: { readonly needs?: 'callback' | 'logout' }) =>
    needs === undefined || post !== undefined;
  const steps = protocol.steps.filter(applies);
  const requirements = protocol.requirements.filter(applies);
  let index = 0;
  let firstOfStep = 0;
  let launchUrl: string | undefined;
  let isFinished = false;
  let beginning: Promise<void> = Promise.resolve();

  const current = (): Step | undefined => (isFinished ? undefined : steps[index]);
  const during = () => exchanges.slice(firstOfStep);

  const record = (exchange: Exchange) => {
    exchanges.push(exchange);
    if (exchanges.length >= maxExchanges) isFinished = true;
    if (current()?.isDone(during()) === true) moveOn();
  };

  const stepTools: StepTools = {
    ...tools,
    now: () => clock.now(),
    async send(message) {
      if (post !== undefined) record(await post(message));
    },
  };

  const begin = () => {
    const step = current();
    launchUrl = undefined;
    if (step?.begin === undefined) return;
    beginning = step.begin(stepTools, exchanges).then((url) => {
      if (current() === step) launchUrl = url;
    });
    // `begun` rejects with the error.
    beginning.catch(() => undefined);
  };

  const moveOn = () => {
    index += 1;
    firstOfStep = exchanges.length;
    isFinished ||= index >= steps.length;
    begin();
  };

  /** Requests that name no client belong to every run that needs them. */
  const isOwn = (request: ProxiedRequest, attributed: Attributed) =>
    attributed.clientId === undefined
      ? protocol.sharedEndpoints.includes(endpointOf(request))
      : attributed.clientId === clientId;

  begin();
  return {
    id,
    clientId,
    protocol: protocol.name,

    /** Returns the fault for a request of the client. */
    faultFor: (request: ProxiedRequest, attributed: Attributed): FaultName | undefined =>
      isOwn(request, attributed) ? current()?.faultFor?.(request, during(), exchanges) : undefined,

    /** Returns a changed answer for the client, or undefined. */
    alter: async (exchange: Exchange) =>
      isOwn(exchange.request, exchange) ? await current()?.alter?.(exchange, during(), stepTools) : undefined,

    /** Records an exchange if it belongs to the client, and continues with the next step when a step is done. */
    record(exchange: Exchange): void {
      if (!isFinished && isOwn(exchange.request, exchange)) record(exchange);
    },

    /** Resolves when the current step has sent its messages. @throws the error of the step */
    begun: () => beginning,

    /** Begins the current step again, with a new launch if it begins with one. */
    repeat(): void {
      if (!isFinished) begin();
    },

    /** Continues with the next step, although the client has not done the current one. */
    skip(): void {
      if (!isFinished) moveOn();
    },

    /** Ends the run. Requirements that are still waiting are `unseen`. */
    finish(): void {
      isFinished = true;
    },

    /** Returns the report of the run so far. */
    report(): RunReport {
      const step = current();
      return {
        run: id,
        client: clientId,
        protocol: protocol.name,
        startedAt,
        state: isFinished ? 'finished' : 'running',
        ...(step === undefined
          ? {}
          : {
              step: {
                id: step.id,
                action: step.action,
                instruction: step.instruction,
                number: index + 1,
                of: steps.length,
                ...(launchUrl === undefined ? {} : { launchUrl }),
                ...(step.pauseSeconds === undefined ? {} : { pauseSeconds: step.pauseSeconds }),
              },
            }),
        launches: [...new Set(exchanges.flatMap(({ launchId }) => launchId ?? []))],
        requirements: requirements.map((requirement) => ({
          id: requirement.id,
          title: requirement.title,
          guide: requirement.guide,
          ...resultOf(requirement, { exchanges, isFinished, attestations }),
        })),
      };
    },
  };
}

function resultOf(
  { id, judge }: Requirement,
  known: {
    readonly exchanges: readonly Exchange[];
    readonly isFinished: boolean;
    readonly attestations: Attestations;
  },
): Pick<ReportedRequirement, 'result' | 'finding'> {
  if (judge === undefined) {
    const by = known.attestations[id];
    return by === undefined ? { result: 'unattested' } : { result: 'attested', finding: `Attested by ${by}` };
  }
  const judgement = judge(known.exchanges);
  if (judgement.verdict === 'failed') return { result: 'failed', finding: judgement.finding };
  return { result: judgement.verdict === 'waiting' && known.isFinished ? 'unseen' : judgement.verdict };
}
