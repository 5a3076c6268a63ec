import type { EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Catalogue } from '../domain/catalogue.ts';
import type { Draft, DraftPlace } from '../domain/draft.ts';
import type { TestRequest } from '../domain/test-request.ts';

/** The launch that a use case belongs to. */
export type Launch = {
  readonly context: LaunchContext;

  readonly call: {
    /** Makes an event of the catalogue that follows from its request. */
    event<Type extends EventType>(type: Type, data: EventData<Type>): CloudEvent<Type>;
  };
};

/** Returns the patient that tests are chosen for: that of the request, also if the launch is for another. */
export const patientOf = ({
  context,
  changed,
}: Pick<Launch, 'context'> & { readonly changed?: TestRequest | undefined }) =>
  (changed?.parties ?? context.request).patient;

/** What tests are chosen for in a launch: a new order, or the change of a request. */
export type Choosing = {
  readonly catalogue: Catalogue;
  readonly place: DraftPlace;
  /** The draft before the user's first change. */
  readonly beginning: Draft;
  /** The request that is changed; absent for a new order. */
  readonly changed?: TestRequest;
};
