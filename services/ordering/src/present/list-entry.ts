import { shortened, type WriteTime, writtenDate } from '@clinical-launch/contracts/written-time';
import type { Catalogue } from '../domain/catalogue.ts';
import { isCancelled, isLive, isOnlyElsewhere, liveSamples } from '../domain/lifecycle.ts';
import { listName, shortName } from '../domain/person-name.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import { presentIdentifiers } from './patient-banner.ts';

/** The number of characters of test names that fit on a line in every window. A wide window shows more. */
const lineLength = 22;

export type ListWriting = {
  readonly write: WriteTime;
  /** Returns the catalogue of the laboratory to which a request was sent. */
  readonly catalogueOf: (request: TestRequest) => Catalogue;
};

/** Presents a request as a row of a list, with short names of tests. */
export function presentEntry(request: TestRequest, { write, catalogueOf }: ListWriting) {
  const { parties, batches, priority, status, createdAt } = request;
  const [day = '', time] = write(createdAt).split(' at ');
  const born = writtenDate(parties.patient.birthDate);
  const { orderables } = catalogueOf(request);
  const tests = batches
    .flatMap((batch) => batch.tests.filter(isLive))
    .map((test) => orderables.get(codeOf(test))?.abbreviation ?? test.description);
  const [identifier] = presentIdentifiers(parties.patient);
  return {
    guid: request.guid,
    orderedAt: { iso: createdAt, day: shortened(day), time },
    references: batches.map(({ orderReference }) => orderReference),
    tests: { names: tests, isLong: tests.length > 1 && tests.join(', ').length > lineLength },
    isUrgent: priority === 'urgent',
    status: isCancelled(request) ? 'Cancelled' : status,
    samples: countSamples(request),
    isElsewhere: isOnlyElsewhere(batches),
    requester: shortName(parties.requester.name),
    patient: {
      name: listName(parties.patient.name),
      born,
      shortBorn: shortened(born),
      identifier,
    },
  };
}

function countSamples({ batches }: Pick<TestRequest, 'batches'>) {
  const samples = batches.flatMap(liveSamples);
  const taken = samples.filter(({ completedAt }) => completedAt !== undefined).length;
  return { taken, needed: samples.length };
}
