import { writtenDate } from '@clinical-launch/contracts/time';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import type { Notice } from '../domain/draft.ts';
import { listed } from '../domain/panels.ts';
import { fullName, listName } from '../domain/person-name.ts';
import type { EarlierTest, Repeat } from '../domain/repeats.ts';

/** Describes who requested a test and when, its current state, and the interval between repeats. */
export function describeRepeat({ test, latest, day, daysAgo, minimumIntervalDays: days }: Repeat): string {
  const requested = `${nameOf(test, latest)} was requested on ${writtenDate(day)} (${ago(daysAgo)})`;
  const said = `${requested} by ${fullName(latest.requester)}: ${stateOf(latest)}.`;
  const interval = days === undefined ? '' : ` Not usually repeated within ${counted(days)}.`;
  return `${said}${interval}${checkPatient(latest)}`;
}

/** Returns the sentence for a request whose patient has another name, or an empty text. */
const checkPatient = ({ otherPatient }: EarlierTest) =>
  otherPatient === undefined
    ? ''
    : ` Check the patient. That request was made for ${listName(otherPatient)}.`;

/** Returns the earlier requests that can be used instead of repeats, each with the names of its tests. */
export function presentUsable(repeats: readonly Repeat[]) {
  const references = new Set(repeats.flatMap(({ usable }) => usable?.orderReference ?? []));
  return [...references].map((orderReference) => {
    const own = repeats.filter(({ usable }) => usable?.orderReference === orderReference);
    const [otherPatient] = own.flatMap(({ usable }) => usable?.otherPatient ?? []);
    return {
      orderReference,
      tests: listed(own.map(({ test: { name } }) => name)),
      ...(otherPatient && { patient: listName(otherPatient) }),
    };
  });
}

/** Describes the tests that were removed because the user chose to use an earlier request. */
export function describeUsed(used: Notice['used'], { orderables }: Pick<Catalogue, 'orderables'>): string[] {
  if (used === undefined) return [];
  const names = used.codes.flatMap((code) => orderables.get(code)?.name ?? []);
  return [`${listed(names)} removed: already in request ${used.orderReference}.`];
}

function nameOf({ code, name, covers }: Orderable, latest: EarlierTest): string {
  if (latest.code === code) return name;
  return covers.includes(latest.code)
    ? `${latest.description} (part of ${name})`
    : `${name} (in ${latest.description})`;
}

function stateOf({ isSampleTaken, container, provider }: EarlierTest): string {
  if (isSampleTaken) return 'sample collected';
  return container === undefined ? `sent to ${provider}` : 'sample not collected yet';
}

const ago = (days: number) => (days === 0 ? 'today' : `${counted(days)} ago`);

const counted = (days: number) => `${days} ${days === 1 ? 'day' : 'days'}`;
