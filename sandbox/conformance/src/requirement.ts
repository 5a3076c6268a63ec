import type { Endpoint, Exchange, FaultName, ProxiedAnswer, ProxiedRequest } from './exchange.ts';
import type { KeySubstitutes } from './id-tokens.ts';

/** The judgement of a requirement. `finding` says what was wrong, without secrets and patient data. */
export type Judgement =
  | { readonly verdict: 'passed' | 'waiting' }
  | { readonly verdict: 'failed'; readonly finding: string };

export const passed: Judgement = { verdict: 'passed' };
export const waiting: Judgement = { verdict: 'waiting' };

/** Returns a failed judgement. The finding says what was wrong, without secrets and patient data. */
export const failed = (finding: string): Judgement => ({ verdict: 'failed', finding });

/** Judges all exchanges of the client since the start of the run. */
export type Judge = (exchanges: readonly Exchange[]) => Judgement;

/** A rule of a guide that a run judges or a person attests. */
export type Requirement = {
  /** A stable id, such as `pms.token-reused`. */
  readonly id: string;
  readonly title: string;
  readonly guide: string;
  /** Absent if no exchange can show the requirement. A person at the vendor must then attest it. */
  readonly judge?: Judge;
  /** The address that the client must have registered. Without it, the requirement does not apply. */
  readonly needs?: 'callback' | 'logout';
};

/** The action of the developer or the test suite in a step. */
export type Action = 'launch' | 'amend' | 'wait';

/** A message that a run sends to the client. */
export type Outgoing = {
  readonly probe: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The functions that a step may use when it begins. */
export type StepTools = {
  /** Sends a message to the callback or logout address of the client, and records the exchange. */
  readonly send: (message: Outgoing) => Promise<void>;
  /** Records an address that the run shows to the client, because the proxy sees no request for it. */
  readonly give: (probe: string, address: URL) => void;
  /** The secret of the callback, `whsec_…`. */
  readonly callbackSecret?: string;
  /** Creates a desktop launch for the client. Returns the launch URL. */
  readonly createLaunch: () => Promise<string>;
  /** Ends the newest desktop launch of the client, as the host application. */
  readonly endLaunch: () => Promise<void>;
  /** The keys that sign changed ID tokens. All runs share these keys. */
  readonly keys: KeySubstitutes;
  readonly now: () => number;
};

/** A part of a conformance run. The run continues with the next step when `isDone` returns true. */
export type Step = {
  readonly id: string;
  readonly action: Action;
  readonly instruction: string;
  readonly needs?: 'callback' | 'logout';
  /** Runs each time the step begins. Returns the launch URL that the client must open, if any. */
  readonly begin?: (tools: StepTools, exchanges: readonly Exchange[]) => Promise<string | undefined>;
  /** Returns the fault for a request, if any. `during` contains the exchanges of this step. */
  readonly faultFor?: (request: ProxiedRequest, during: readonly Exchange[]) => FaultName | undefined;
  readonly alter?: (
    exchange: Exchange,
    during: readonly Exchange[],
    tools: StepTools,
  ) => Promise<{ readonly answer: ProxiedAnswer; readonly probe: string } | undefined>;
  readonly isDone: (during: readonly Exchange[]) => boolean;
  /** The seconds that a person or a test suite waits before the next action. */
  readonly pauseSeconds?: number;
};

/**
 * The conformance test of one kind of client: the steps of a run, and the requirements that the run judges.
 */
export type Protocol = {
  readonly name: 'pms' | 'partner';
  readonly steps: readonly Step[];
  readonly requirements: readonly Requirement[];
  /**
   * The endpoints whose requests name no client, such as the endpoint of the public keys. Each run records
   * these requests.
   */
  readonly sharedEndpoints: readonly Endpoint[];
};
