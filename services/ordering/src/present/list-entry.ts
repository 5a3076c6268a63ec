import { isLive, liveSamples } from '../domain/lifecycle.ts';
import { fullName } from '../domain/person-name.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { presentIdentifiers } from './patient-banner.ts';
import type { WriteTime } from './written-time.ts';
import { writtenDate } from './written-time.ts';

/** The number of tests in a row of a list. One more is shown too, because "1 more" needs the same space. */
const testsAtOnce = 4;

/** Presents a request as a row of a list. */
export function presentEntry(request: TestRequest, write: WriteTime) {
  const { parties, batches, priority, status, createdAt } = request;
  const tests = batches.flatMap((batch) => batch.tests.filter(isLive)).map(({ description }) => description);
  const shown = tests.length > testsAtOnce + 1 ? testsAtOnce : tests.length;
  const [identifier] = presentIdentifiers(parties.patient);
  return {
    orderedAt: { iso: createdAt, text: write(createdAt) },
    references: batches.map(({ orderReference }) => orderReference),
    tests: { shown: tests.slice(0, shown), more: tests.slice(shown) },
    isUrgent: priority === 'urgent',
    status,
    samples: describeSamples(request),
    requester: fullName(parties.requester.name),
    patient: {
      name: fullName(parties.patient.name),
      born: writtenDate(parties.patient.birthDate),
      identifier,
    },
  };
}

function describeSamples({ batches }: Pick<TestRequest, 'batches'>): string {
  const samples = batches.flatMap(liveSamples);
  const taken = samples.filter(({ completedAt }) => completedAt !== undefined).length;
  if (samples.length === 0) return 'No samples needed';
  if (samples.length === 1) return taken === 1 ? 'Sample collected' : 'Sample not collected yet';
  if (taken === 0) return `0 of ${samples.length} samples collected`;
  return taken === samples.length
    ? `All ${samples.length} samples collected`
    : `${taken} of ${samples.length} samples collected`;
}
