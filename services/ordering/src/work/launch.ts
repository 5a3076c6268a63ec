import { randomUUID } from 'node:crypto';
import type { EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import type { Clock } from '@clinical-launch/runtime/clock';
import { type PatientTraits, traitsOf } from '../domain/applies-to.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { type Draft, type DraftPlace, draftOf, emptyDraft } from '../domain/draft.ts';
import { draftIdOf } from '../domain/submission-id.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingDatabase } from '../store/database.ts';
import { draftOwnerKeyOf } from '../store/keys.ts';

export type WorkDependencies = {
  readonly database: OrderingDatabase;
  readonly clock: Clock;
  /** Encrypts the order in the event for the service that renders the order document. */
  readonly sealer: Sealer;
  readonly pseudonyms: PatientPseudonyms;
  /** The IANA time zone of the practices. */
  readonly timeZone: string;
};

/** The launch for which a use case runs. */
export type Launch = {
  readonly context: LaunchContext;
  readonly call: {
    /** Creates an event that this HTTP request causes. */
    event<Type extends EventType>(type: Type, data: EventData<Type>): CloudEvent<Type>;
    /** The Unix time of the HTTP request in milliseconds. */
    readonly receivedAt: number;
  };
};

/**
 * The new order or the change for which the user chooses tests, with its catalogue, patient and draft.
 * Created once for each HTTP request.
 */
export type Choosing = {
  readonly context: LaunchContext;
  readonly catalogue: Catalogue;
  readonly place: DraftPlace;
  /** The draft before the user's first change. */
  readonly beginning: Draft;
  /** The request that is changed; absent for a new order. */
  readonly changed?: TestRequest;
  /** The patient of the request, even if the launch is for another patient. */
  readonly patient: PatientTraits;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  /** IANA name of the practice's zone */
  readonly timeZone: string;
};

/** `now`: milliseconds since 1970; `timeZone`: IANA name */
export type Moment = Pick<Choosing, 'now' | 'timeZone'>;

/** Returns the `Choosing` of a new order, whose draft is empty at first. */
export function toNewOrder(context: LaunchContext, catalogue: Catalogue, moment: Moment): Choosing {
  const { launchId } = context;
  return {
    context,
    catalogue,
    place: { launchId, target: launchId, ownerKey: draftOwnerKeyOf(context, catalogue.id) },
    beginning: emptyDraft(randomUUID()),
    patient: traitsOf(context.request.patient, moment),
    ...moment,
  };
}

/** Returns the `Choosing` of a change, whose draft at first contains the tests of the request. */
export function toChange(
  context: LaunchContext,
  changed: TestRequest,
  catalogue: Catalogue,
  moment: Moment,
): Choosing {
  const { launchId } = context;
  return {
    context,
    catalogue,
    changed,
    place: { launchId, target: changed.guid },
    beginning: draftOf(changed, draftIdOf(launchId, changed)),
    patient: traitsOf(changed.parties.patient, moment),
    ...moment,
  };
}
