import type { LaunchRequest } from '@clinical-launch/contracts';

/** What is printed of a request. */
export type PrintedPaper = 'form' | 'labels';

/** One printing, with those before it. */
export type Printing = {
  /** ISO 8601 instant */
  readonly at: string;
  /**
   * How often the same was printed of this request before, and who did it last; absent when this is the first
   * time.
   */
  readonly before?: {
    readonly times: number;
    readonly at: string;
    readonly author: LaunchRequest['author'];
  };
};
