import { shortened, type WriteTime, writtenDate } from '@clinical-launch/contracts/written-time';
import type { Catalogue } from '../domain/catalogue.ts';
import { isLive, liveSamples } from '../domain/lifecycle.ts';
import { listName, shortName } from '../domain/person-name.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import { presentIdentifiers } from './patient-banner.ts';

/** The number of characters of the tests in a row, so that they are a line; the others can be opened. */
const testsLength = 22;
/** As many as the word Urgent before them needs. */
const urgentLength = 10;

export type ListWriting = {
  readonly write: WriteTime;
  /** Returns the catalogue of the laboratory that a request was sent to. */
  readonly catalogueOf: (request: TestRequest) => Catalogue;
};

/** Presents a request as a row of a list, with short names of tests, which fit in a line. */
export function presentEntry(request: TestRequest, { write, catalogueOf }: ListWriting) {
  const { parties, batches, priority, status, createdAt } = request;
  const [day = '', time] = write(createdAt).split(' at ');
  const born = writtenDate(parties.patient.birthDate);
  const { orderables } = catalogueOf(request);
  const tests = batches
    .flatMap((batch) => batch.tests.filter(isLive))
    .map((test) => orderables.get(codeOf(test))?.abbreviation ?? test.description);
  const isUrgent = priority === 'urgent';
  const shown = fitting(tests, isUrgent ? testsLength - urgentLength : testsLength);
  const [identifier] = presentIdentifiers(parties.patient);
  return {
    guid: request.guid,
    orderedAt: { iso: createdAt, day: shortened(day), time },
    references: batches.map(({ orderReference }) => orderReference),
    tests: { shown: tests.slice(0, shown), more: tests.slice(shown) },
    isUrgent,
    status,
    samples: countSamples(request),
    requester: shortName(parties.requester.name),
    patient: {
      name: listName(parties.patient.name),
      born,
      shortBorn: shortened(born),
      identifier,
    },
  };
}

/** Returns how many of the names fit in a line of so many characters, the first in any case. */
function fitting(names: readonly string[], most: number): number {
  let length = 0;
  const tooMany = names.findIndex((name) => {
    length += name.length + 2;
    return length > most + 2;
  });
  return tooMany === -1 ? names.length : Math.max(tooMany, 1);
}

function countSamples({ batches }: Pick<TestRequest, 'batches'>) {
  const samples = batches.flatMap(liveSamples);
  const taken = samples.filter(({ completedAt }) => completedAt !== undefined).length;
  return { taken, needed: samples.length };
}
