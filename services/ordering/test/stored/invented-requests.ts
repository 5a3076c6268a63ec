import { createHash } from 'node:crypto';
import type { LaunchPatient, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { withCheckDigit } from '@clinical-launch/testing/nhs-number';
import type { Catalogue, Orderable } from '../../src/domain/catalogue.ts';
import { changeTests, newLocations } from '../../src/domain/change-tests.ts';
import { recordSamples, samplesOf } from '../../src/domain/record-samples.ts';
import type { TestRequest } from '../../src/domain/test-request.ts';
import { familyNames, givenNames, requesters } from './names.ts';

export type Invention = {
  readonly practice: LaunchRequest['practice'];
  readonly count: number;
  /** The number of patients; by default, a quarter of the number of requests. */
  readonly patients?: number;
  readonly catalogue: Catalogue;
  /**
   * The time of the newest request. The other requests are spread evenly over the two years before this time.
   */
  readonly newest: Date;
  /** The first order number of this practice. */
  readonly firstNumber: number;
};

export const client = { issuer: 'https://launch.example.org/idp/demo/v2.0', clientId: 'pms-demo' };

const twoYearsMs = 2 * 365 * 86_400_000;
/**
 * Generates the requests of one practice, oldest first. The requests of a practice are the same in every run.
 * One request in 30 waits for samples, and one in 20 is urgent.
 */
export function* inventRequests(invention: Invention): Generator<TestRequest> {
  for (let index = 0; index < invention.count; index += 1) yield inventRequest(invention, index);
}

function inventRequest(invention: Invention, index: number): TestRequest {
  const { practice, count, patients = Math.ceil(count / 4), catalogue, newest, firstNumber } = invention;
  const draw = drawFrom(`${practice.identifier.value} ${index}`);
  const now = new Date(
    newest.getTime() - Math.round((twoYearsMs * (count - 1 - index)) / count),
  ).toISOString();
  const add = Array.from({ length: 1 + Math.floor(draw() * 4) }, () => ({
    test: pick(tests(catalogue), draw),
  }));
  const requester = index < count / 5 ? requesters[0] : pick(requesters.slice(1), draw);
  const ordered = changeTests(
    {
      guid: guidOf(`request ${practice.identifier.value} ${index}`),
      launchId: guidOf(`launch ${practice.identifier.value} ${index}`),
      client,
      originatingId: `HS-${practice.identifier.value}-${index}`,
      version: 1,
      status: 'Incomplete',
      parties: {
        patient: inventPatient(practice, Math.floor(draw() * patients)),
        requester: {
          identifier: { system: 'professional-code', value: requester.code },
          name: { title: 'Dr', family: requester.family, given: requester.given },
        },
        author: { username: 'a.okonkwo', name: { title: 'Dr', family: 'Okonkwo', given: ['Adaeze'] } },
        practice,
        performer: {
          identifier: { system: 'performing-org', value: 'RCB00' },
          name: 'North Coast Pathology',
        },
        authoredOn: now,
      },
      clinicalDetails: 'Tired for three weeks, no weight loss. On levothyroxine 50 micrograms.',
      priority: draw() < 1 / 20 ? 'urgent' : 'routine',
      answers: [],
      batches: [],
      createdAt: now,
      updatedAt: now,
    },
    {
      add,
      remove: [],
      now,
      batchNumbers: newLocations([], add).map((_, at) => firstNumber + index * 3 + at),
      newGuid: () => guidOf(`batch ${practice.identifier.value} ${index} ${draw()}`),
    },
  );
  return draw() < 1 / 30 ? ordered : taken(ordered, now);
}

function taken(request: TestRequest, now: string): TestRequest {
  const collected = { at: now, by: 'Sister Grimshaw' };
  const records = samplesOf(request).map(({ sample }) => ({ sample: sample.id, collected, quantity: 1 }));
  return recordSamples(request, records, now);
}

/** Returns the patient with this number in a practice. The patient is the same in every request. */
export function inventPatient(practice: LaunchRequest['practice'], number: number): LaunchPatient {
  const draw = drawFrom(`patient ${practice.identifier.value} ${number}`);
  // Squares the random number, so that names at the start of the list are the most common.
  const family = familyNames[Math.floor(draw() ** 2 * familyNames.length)] ?? 'Smith';
  const born = new Date(Date.UTC(1930, 0, 1 + Math.floor(draw() * 90 * 365)));
  return {
    name: {
      title: pick(['Mrs', 'Mr', 'Ms'], draw),
      family,
      given: [pick(givenNames, draw), pick(givenNames, draw)],
    },
    birthDate: born.toISOString().slice(0, 10),
    gender: pick(['female', 'male'] as const, draw),
    address: { lines: [`${1 + Math.floor(draw() * 200)} Quayside`, 'Whitby'], postalCode: 'YO22 4EB' },
    identifiers: [
      { system: 'nhs-number', value: withCheckDigit(9e8 + Math.floor(draw() * 99e6)) },
      { system: 'hospital-number', value: `WH-${String(number).padStart(7, '0')}` },
    ],
    telecom: [{ system: 'phone', value: '01947 555 0142', use: 'home' }],
  };
}

type Draw = () => number;

/** Returns a random number generator (mulberry32, from 0 to 1) whose seed is the hash of a text. */
function drawFrom(text: string): Draw {
  let state = createHash('sha256').update(text).digest().readUInt32LE();
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick<Item>(items: readonly Item[], draw: Draw): Item {
  const item = items[Math.floor(draw() * items.length)];
  if (item === undefined) throw new RangeError('There is nothing to pick from');
  return item;
}

const known = new WeakMap<Catalogue, readonly Orderable[]>();

function tests(catalogue: Catalogue): readonly Orderable[] {
  const all = known.get(catalogue) ?? [...catalogue.orderables.values()];
  known.set(catalogue, all);
  return all;
}

function guidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
