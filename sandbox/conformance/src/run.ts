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

/** The recorded answer of a client that does not answer. */
export const noAnswer: ProxiedAnswer = { status: 0, headers: {}, body: Buffer.alloc(0) };

/**
 * A conformance run for one client. The run goes through the steps of a protocol, watches the exchanges of the
 * client, and judges each requirement when it reports. A finished run keeps its report, and no exchange,
 * because exchanges contain secrets and patient data.
 */
export class Run {
  readonly id = randomUUID();
  readonly clientId: string;
  readonly protocol: Protocol['name'];
  readonly #options: RunOptions;
  readonly #startedAt: string;
  readonly #steps: readonly Step[];
  readonly #requirements: readonly Requirement[];
  readonly #tools: StepTools;
  readonly #exchanges: Exchange[] = [];
  #length = 0;
  #index = 0;
  #firstOfStep = 0;
  #launchUrl: string | undefined;
  #final: RunReport | undefined;
  #beginning: Promise<void> = Promise.resolve();

  constructor(options: RunOptions) {
    const { clientId, protocol, clock, post, tools } = options;
    const applies = ({ needs }: { readonly needs?: 'callback' | 'logout' }) =>
      needs === undefined || post !== undefined;
    this.clientId = clientId;
    this.protocol = protocol.name;
    this.#options = options;
    this.#startedAt = new Date(clock.now()).toISOString();
    this.#steps = protocol.steps.filter(applies);
    this.#requirements = protocol.requirements.filter(applies);
    const now = () => clock.now();
    this.#tools = {
      ...tools,
      now,
      send: async (message) => {
        if (post !== undefined) this.#add(await post(message));
      },
      give: (probe, url) => {
        const at = now();
        const request = { method: 'GET', url, headers: {}, body: '', at };
        this.#add({ direction: 'sent', request, answer: noAnswer, answeredAt: at, probe });
      },
    };
    this.repeat();
  }

  #isOwn(request: ProxiedRequest, attributed: Attributed): boolean {
    return attributed.clientId === undefined
      ? this.#options.protocol.sharedEndpoints.includes(endpointOf(request))
      : attributed.clientId === this.clientId;
  }

  faultFor(request: ProxiedRequest, attributed: Attributed): FaultName | undefined {
    return this.#isOwn(request, attributed)
      ? this.#steps[this.#index]?.faultFor?.(request, this.#during())
      : undefined;
  }

  /** Returns a changed answer for the client, or undefined. */
  async alter(exchange: Exchange) {
    return this.#isOwn(exchange.request, exchange)
      ? await this.#steps[this.#index]?.alter?.(exchange, this.#during(), this.#tools)
      : undefined;
  }

  /** Records an exchange if it belongs to the client, and continues with the next step when a step is done. */
  record(exchange: Exchange): void {
    if (this.#isOwn(exchange.request, exchange)) this.#add(exchange);
  }

  #add(exchange: Exchange): void {
    const step = this.#steps[this.#index];
    if (step === undefined) return;
    const kept = withoutUnreadBodies(exchange);
    this.#exchanges.push(kept);
    this.#length += lengthOf(kept);
    if (this.#exchanges.length >= maxExchanges || this.#length >= maxLength) this.finish();
    else if (step.isDone(this.#during())) this.skip();
  }

  #during = (): readonly Exchange[] => this.#exchanges.slice(this.#firstOfStep);

  /** Returns the current step, or undefined after the last step. Judges no requirement. */
  step(): RunReport['step'] {
    const step = this.#steps[this.#index];
    if (step === undefined) return undefined;
    const { id, action, instruction, pauseSeconds } = step;
    const place = { number: this.#index + 1, of: this.#steps.length };
    return {
      id,
      action,
      instruction,
      ...place,
      ...withoutUndefined({ launchUrl: this.#launchUrl, pauseSeconds }),
    };
  }

  /** Resolves when the current step has sent its messages. @throws the error of the step */
  begun = (): Promise<void> => this.#beginning;

  /** Begins the current step again, with a new launch if the step begins with one. */
  repeat(): void {
    const step = this.#steps[this.#index];
    this.#launchUrl = undefined;
    this.#beginning = Promise.resolve();
    if (step?.begin === undefined) return;
    this.#beginning = step.begin(this.#tools, this.#exchanges).then((url) => {
      if (this.#steps[this.#index] !== step) return;
      this.#launchUrl = url;
      // The client does nothing in a `wait` step, so the run continues when the messages of the step were
      // sent.
      if (step.action === 'wait') this.skip();
    });
    // `begun` reports the error to its caller. Without a caller, the error must not end the process.
    this.#beginning.catch(() => undefined);
  }

  /** Continues with the next step, although the client has not done the current step. */
  skip(): void {
    this.#goTo(this.#index + 1);
    this.repeat();
  }

  /** Ends the run. Requirements that are still waiting are `unseen`. */
  finish(): void {
    this.#goTo(this.#steps.length);
  }

  #goTo(index: number): void {
    if (this.#final !== undefined) return;
    this.#index = index;
    this.#firstOfStep = this.#exchanges.length;
    if (index < this.#steps.length) return;
    this.#final = this.#made();
    this.#exchanges.splice(0);
  }

  /** Returns the report of the run so far. */
  report(): RunReport {
    return this.#final ?? this.#made();
  }

  #made(): RunReport {
    const { protocol, clock, attestations } = this.#options;
    const step = this.step();
    const isFinished = step === undefined;
    const finishedAt = isFinished ? new Date(clock.now()).toISOString() : undefined;
    const exchanges = this.#exchanges;
    return {
      run: this.id,
      client: this.clientId,
      protocol: protocol.name,
      isSigned: false,
      startedAt: this.#startedAt,
      state: isFinished ? 'finished' : 'running',
      ...withoutUndefined({ finishedAt, step }),
      launches: [...new Set(exchanges.flatMap(({ launchId }) => launchId ?? []))],
      requirements: this.#requirements.map((requirement) => ({
        id: requirement.id,
        title: requirement.title,
        guide: requirement.guide,
        ...resultOf(requirement, { exchanges, isFinished, attestations }),
      })),
      notJudged: protocol.requirements.filter((one) => !this.#requirements.includes(one)).map(({ id }) => id),
    };
  }
}

/** Drops the bodies that no requirement reads: the pages of the application, and resources. */
function withoutUnreadBodies(exchange: Exchange): Exchange {
  const { direction, request, answer } = exchange;
  const endpoint = endpointOf(request);
  if (direction === 'sent' || (endpoint !== 'other' && endpoint !== 'resource')) return exchange;
  return { ...exchange, request: { ...request, body: '' }, answer: { ...answer, body: noAnswer.body } };
}

const lengthOf = ({ request, answer }: Exchange): number =>
  request.url.href.length + JSON.stringify(request.headers).length + request.body.length + answer.body.length;

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
