import type { LaunchContext } from '@clinical-launch/contracts';
import type { Call } from '@clinical-launch/service/http';
import type { Catalogue } from '../domain/catalogue.ts';
import type { Draft, DraftPlace } from '../domain/draft.ts';
import type { TestRequest } from '../domain/test-request.ts';

/** The launch that a use case belongs to. */
export type Launch = {
  readonly context: LaunchContext;

  readonly call: Pick<Call, 'event'>;
};

/** What tests are chosen for in a launch: a new order, or the change of a request. */
export type Choosing = {
  readonly catalogue: Catalogue;
  readonly place: DraftPlace;
  /** The draft before the user's first change. */
  readonly beginning: Draft;
  /** The request that is changed; absent for a new order. */
  readonly changed?: TestRequest;
};
