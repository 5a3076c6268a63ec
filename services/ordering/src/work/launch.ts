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

/** What tests are chosen for in a launch: for a new order, or to change a request. */
export type Choosing = {
  readonly catalogue: Catalogue;
  readonly place: DraftPlace;
  /** The draft before its user has done anything. */
  readonly beginning: Draft;
  /** The request that is changed; absent when it is a new order. */
  readonly changed?: TestRequest;
};
