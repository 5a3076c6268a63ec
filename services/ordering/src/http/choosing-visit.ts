import type { Choosing } from '../work/launch.ts';
import type { Visit } from './visit.ts';

/** A visit to the pages that choose tests: those of a new order, or of the change of a request. */
export type ChoosingVisit = Visit &
  Choosing & {
    /** The path of these pages, with a slash at the end. */
    readonly base: string;
  };
