import type { FaultName } from '@clinical-launch/conformance/exchange';

/** A header as the page shows it. Its value is masked if it may contain a secret or patient data. */
type ShownHeader = { readonly name: string; readonly value: string };

/**
 * A request of a sandbox client and its answer, without bodies. It contains no values that the client chose,
 * apart from a few headers, so that neither secrets nor patient data are stored.
 */
export type RecordedRequest = {
  /** The correlation id of the answer. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly durationMs: number;
  readonly method: string;
  readonly path: string;
  /** The names of the known parameters in the query. */
  readonly parameters: readonly string[];
  readonly status: number;
  readonly fault?: FaultName;
  readonly sent: readonly ShownHeader[];
  readonly received: readonly ShownHeader[];
  /** The code of the refusal. */
  readonly code?: string;
  /** What was wrong, in sentences. */
  readonly findings: readonly string[];
};
