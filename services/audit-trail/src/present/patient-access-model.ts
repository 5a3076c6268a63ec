import type { PatientAccess } from '../domain/patient-access.ts';
import { presentParties } from './entry-model.ts';
import type { WriteTime } from './written-time.ts';

type Seen = { readonly accesses: readonly PatientAccess[]; readonly isCut: boolean };

/** Returns the model of the list of users who have seen a patient. */
export const presentPatientAccesses = ({ accesses, isCut }: Seen, write: WriteTime) => ({
  isCut,
  people: accesses.map(({ first, last, counts, ...parties }) => ({
    ...presentParties(parties),
    first: write(first),
    last: write(last),
    isOnce: first.getTime() === last.getTime(),
    counts: [...counts].map(([what, count]) => (count === 1 ? what : `${what}, ${count} times`)),
    total: [...counts.values()].reduce((sum, count) => sum + count, 0),
  })),
});
