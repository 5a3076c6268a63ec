import { randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Attributed } from './attribution.ts';
import {
  type Exchange,
  endpointOf,
  type FaultName,
  type ProxiedAnswer,
  type ProxiedRequest,
} from './exchange.ts';
import type { Outgoing, Protocol, Requirement, Step, StepTools } from './requirement.ts';

/**
 * The results of a requirement. `unseen` means that the run ended before the client sent what the requirement
 * judges.
 */
export const results = ['passed', 'failed', 'waiting', 'unseen', 'attested', 'unattested'] as const;

export type Result = (typeof results)[number];

export type ReportedRequirement = Pick<Requirement, 'id' | 'title' | 'guide'> & {
  readonly result: Result;
  /** What was wrong, or who attested the requirement. */
  readonly finding?: string;
};

/**
 * The report of a run. Contains no patient data and, except for the launch identifier in the launch URL of
 * the current step, no secrets.
 */
export type RunReport = {
  readonly run: string;
  readonly client: string;
  readonly protocol: Protocol['name'];
  /** A report is never signed. `signStatement` signs the statement of a run. */
  readonly isSigned: false;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly state: 'running' | 'finished';
  /** ISO 8601. Absent while the run is running. */
  readonly finishedAt?: string;
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
  /**
   * The ids of the requirements that do not apply, because the client registered no address for callbacks or
   * logout tokens.
   */
  readonly notJudged: readonly string[];
};

/** The names of the people who attest the requirements that no exchange can show, by requirement id. */
export type Attestations = Readonly<Record<string, string>>;

export type RunOptions = {
  readonly clientId: string;
  readonly protocol: Protocol;
  readonly attestations: Attestations;
  readonly clock: Clock;
  /** Posts a message to the address of the client. Absent if the client registered no address. */
  readonly post?: ((message: Outgoing) => Promise<Exchange>) | undefined;
  readonly tools: Omit<StepTools, 'send' | 'give' | 'now'>;
};

/** The maximum number of exchanges of a run. A run that reaches it finishes. */
const maxExchanges = 5000;
/** The maximum number of characters and bytes in the exchanges of a run. A run that reaches it finishes. */
const maxLength = 32 * 1024 * 1024;

export type Run = ReturnType<typeof createRun>;

/**
 * Creates a conformance run for one client. The run goes through the steps of a protocol, watches the
 * exchanges of the client, and judges each requirement when it reports.
 */
export function createRun({ clientId, protocol, attestations, clock, post, tools }: RunOptions) {
  const id = randomUUID();
  const startedAt = new Date(clock.now()).toISOString();
  const applies = ({ needs }: { readonly needs?: 'callback' | 'logout' }) =>
    needs === undefined || post !== undefined;
  const requirements = protocol.requirements.filter(applies);
  const progress = createProgress(protocol.steps.filter(applies), {
    ...tools,
    now: () => clock.now(),
    post,
  });

  /**
   * Returns true if a request belongs to this run. Requests without a known client belong to every run that
   * lists their endpoint in `sharedEndpoints`.
   */
  const isOwn = (request: ProxiedRequest, attributed: Attributed) =>
    attributed.clientId === undefined
      ? protocol.sharedEndpoints.includes(endpointOf(request))
      : attributed.clientId === clientId;

  const report = createReporter({ id, clientId, protocol, requirements, attestations, startedAt, progress });
  const endIfDone = () => {
    if (progress.step() === undefined) report();
  };

  return {
    id,
    clientId,
    protocol: protocol.name,

    faultFor: (request: ProxiedRequest, attributed: Attributed): FaultName | undefined =>
      isOwn(request, attributed) ? progress.step()?.faultFor?.(request, progress.during()) : undefined,

    /** Returns a changed answer for the client, or undefined. */
    alter: async (exchange: Exchange) =>
      isOwn(exchange.request, exchange)
        ? await progress.step()?.alter?.(exchange, progress.during(), progress.tools)
        : undefined,

    /**
     * Records an exchange if it belongs to the client, and continues with the next step when a step is done.
     */
    record(exchange: Exchange): void {
      if (isOwn(exchange.request, exchange)) progress.record(exchange);
      endIfDone();
    },

    /** Returns the current step, or undefined after the last step. Judges no requirement. */
    step: progress.shown,

    /** Resolves when the current step has sent its messages. @throws the error of the step */
    begun: progress.begun,

    /** Begins the current step again, with a new launch if the step begins with one. */
    repeat: progress.repeat,

    /** Continues with the next step, although the client has not done the current step. */
    skip: progress.skip,

    /** Ends the run. Requirements that are still waiting are `unseen`. */
    finish(): void {
      progress.finish();
      endIfDone();
    },

    /** Returns the report of the run so far. A finished run keeps its report, and no exchange. */
    report,
  };
}

type Reported = Pick<RunOptions, 'clientId' | 'protocol' | 'attestations'> & {
  readonly id: string;
  readonly startedAt: string;
  readonly requirements: readonly Requirement[];
  readonly progress: ReturnType<typeof createProgress>;
};

/**
 * Creates the function that reports a run. The report of a finished run is made once. Its exchanges, which
 * contain secrets and patient data, are then dropped.
 */
function createReporter({
  id,
  clientId,
  protocol,
  requirements,
  attestations,
  startedAt,
  progress,
}: Reported) {
  const { exchanges } = progress;
  const notJudged = protocol.requirements.filter((one) => !requirements.includes(one));
  let final: RunReport | undefined;
  return (): RunReport => {
    if (final !== undefined) return final;
    const step = progress.shown();
    const isFinished = step === undefined;
    const made: RunReport = {
      run: id,
      client: clientId,
      protocol: protocol.name,
      isSigned: false,
      startedAt,
      state: isFinished ? 'finished' : 'running',
      ...withoutUndefined({ finishedAt: progress.finishedAt(), step }),
      launches: [...new Set(exchanges.flatMap(({ launchId }) => launchId ?? []))],
      requirements: requirements.map((requirement) => ({
        id: requirement.id,
        title: requirement.title,
        guide: requirement.guide,
        ...resultOf(requirement, { exchanges, isFinished, attestations }),
      })),
      notJudged: notJudged.map((one) => one.id),
    };
    if (!isFinished) return made;
    progress.drop();
    final = made;
    return made;
  };
}

const nothing = Buffer.alloc(0);

/** The recorded answer of a client that does not answer. */
export const noAnswer: ProxiedAnswer = { status: 0, headers: {}, body: nothing };

/** Drops the bodies that no requirement reads: the pages of the application, and resources. */
function withoutUnreadBodies(exchange: Exchange): Exchange {
  const { direction, request, answer } = exchange;
  const endpoint = endpointOf(request);
  if (direction === 'sent' || (endpoint !== 'other' && endpoint !== 'resource')) return exchange;
  return { ...exchange, request: { ...request, body: '' }, answer: { ...answer, body: nothing } };
}

const lengthOf = ({ request, answer }: Exchange): number =>
  request.url.href.length + JSON.stringify(request.headers).length + request.body.length + answer.body.length;

type ProgressTools = Omit<StepTools, 'send' | 'give'> & Pick<RunOptions, 'post'>;

/** Goes through the steps of a run, and stores its exchanges. */
function createProgress(steps: readonly Step[], { post, ...tools }: ProgressTools) {
  const exchanges: Exchange[] = [];
  let length = 0;
  let index = 0;
  let firstOfStep = 0;
  let launchUrl: string | undefined;
  let finishedAt: string | undefined;
  let beginning: Promise<void> = Promise.resolve();

  const current = (): Step | undefined => steps[index];
  const during = () => exchanges.slice(firstOfStep);
  const goTo = (next: number) => {
    index = next;
    if (current() === undefined) finishedAt ??= new Date(tools.now()).toISOString();
  };
  const finish = () => goTo(steps.length);

  const record = (exchange: Exchange) => {
    const step = current();
    if (step === undefined) return;
    const kept = withoutUnreadBodies(exchange);
    exchanges.push(kept);
    length += lengthOf(kept);
    if (exchanges.length >= maxExchanges || length >= maxLength) finish();
    else if (step.isDone(during())) moveOn();
  };

  const stepTools = createStepTools({ post, ...tools }, record);

  const begin = () => {
    const step = current();
    launchUrl = undefined;
    beginning = Promise.resolve();
    if (step?.begin === undefined) return;
    beginning = step.begin(stepTools, exchanges).then((url) => {
      if (current() !== step) return;
      launchUrl = url;
      // The client does nothing in a `wait` step, so the run continues when the messages of the step were
      // sent.
      if (step.action === 'wait') moveOn();
    });
    // `begun` reports the error to its caller. Without a caller, the error must not end the process.
    beginning.catch(() => undefined);
  };

  const moveOn = () => {
    if (current() === undefined) return;
    goTo(index + 1);
    firstOfStep = exchanges.length;
    begin();
  };

  begin();
  return {
    exchanges: exchanges as readonly Exchange[],
    step: current,
    during,
    record,
    tools: stepTools,
    begun: () => beginning,
    repeat: begin,
    skip: moveOn,
    finish,
    finishedAt: () => finishedAt,
    drop: () => void exchanges.splice(0),
    /** Returns the current step as the report shows it, or undefined after the last step. */
    shown: () => shownStep(steps, { index, launchUrl }),
  };
}

function createStepTools({ post, ...tools }: ProgressTools, record: (exchange: Exchange) => void): StepTools {
  return {
    ...tools,
    async send(message) {
      if (post !== undefined) record(await post(message));
    },
    give(probe, url) {
      const at = tools.now();
      const request = { method: 'GET', url, headers: {}, body: '', at };
      record({ direction: 'sent', request, answer: noAnswer, answeredAt: at, probe });
    },
  };
}

function shownStep(
  steps: readonly Step[],
  { index, launchUrl }: { readonly index: number; readonly launchUrl: string | undefined },
): RunReport['step'] {
  const step = steps[index];
  if (step === undefined) return undefined;
  const { id, action, instruction, pauseSeconds } = step;
  const place = { number: index + 1, of: steps.length };
  return { id, action, instruction, ...place, ...withoutUndefined({ launchUrl, pauseSeconds }) };
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
