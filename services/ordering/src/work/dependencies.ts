import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { OrderingDatabase } from '../store/database.ts';

export type WorkDependencies = {
  readonly database: OrderingDatabase;
  readonly clock: Clock;
  /** Encrypts the order in the event for the service that renders the order document. */
  readonly sealer: Sealer;
  readonly pseudonyms: PatientPseudonyms;
  /** The IANA time zone of the practices. */
  readonly timeZone: string;
};
