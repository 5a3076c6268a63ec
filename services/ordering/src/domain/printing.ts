import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';

/** The papers of a request that can be printed. */
export type PrintedPaper = 'form' | 'labels';

/** One print of a paper, with the previous prints. */
export type Printing = {
  /** ISO 8601 instant */
  readonly at: string;
  /**
   * The number of earlier prints of this paper of the request, and the time and user of the last print.
   * Absent for the first print.
   */
  readonly before?: {
    readonly times: number;
    readonly at: string;
    readonly author: LaunchRequest['author'];
  };
};
