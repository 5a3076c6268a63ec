import type { WriteTime } from '@clinical-launch/contracts/time';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { Catalogue } from '../domain/catalogue.ts';
import type { Catalogues } from '../domain/catalogues.ts';
import { createTestSearch, type TestSearch } from '../domain/test-search.ts';
import type { WorkDependencies } from '../work/launch.ts';
import type { Show } from './show.ts';

/** The dependencies of the pages. They are the same for every HTTP request. */
export type Dependencies = WorkDependencies & {
  readonly tickets: Pick<Tickets, 'find' | 'redeem'>;
  /** The registry, with the earlier codes of the practices. */
  readonly registry: RegistrySource;
  readonly pages: Pages;
  readonly catalogues: Catalogues;
  readonly searchIn: SearchIn;
  /** The public origin: `https://launch.example.org` */
  readonly publicOrigin: string;
  readonly isSecure: boolean;
  /** Counts an HTTP request of a launch session. @throws ServiceError 429 above the rate limit */
  readonly countRequest: (launchId: string) => void;
  readonly show: Show;
  readonly write: WriteTime;
  /** Wakes the relay after an event was stored in the outbox. */
  readonly nudge: () => void;
};

/** Returns the search over the tests of a catalogue. */
export type SearchIn = (catalogue: Catalogue) => TestSearch;

/** Prepares the search of each catalogue once, instead of for each HTTP request. */
export function createSearches({ all }: Pick<Catalogues, 'all'>): SearchIn {
  const searches = new Map(all.map((catalogue) => [catalogue, createTestSearch(catalogue)]));
  // The empty catalogue, which `ofRequest` returns for a removed catalogue, has no prepared search.
  return (catalogue) => searches.get(catalogue) ?? createTestSearch(catalogue);
}
