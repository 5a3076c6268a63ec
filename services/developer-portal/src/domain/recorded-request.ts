import type { FaultName } from '@clinical-launch/conformance/exchange';

/** A header as the page shows it. Its value is masked if it may contain a secret or patient data. */
type ShownHeader = { readonly name: string; readonly value: string };

/**
 * A request of a sandbox client and its answer, without their bodies. Contains the names of all headers but
 * the values of only a few, so that the portal stores no secrets and no patient data.
 */
export type RecordedRequest = {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly durationMs: number;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
  readonly status: number;
  readonly fault?: FaultName;
  readonly sent: readonly ShownHeader[];
  readonly received: readonly ShownHeader[];
  readonly code?: string;
  readonly findings: readonly string[];
};
