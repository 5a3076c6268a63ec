import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { localDay, writtenDate } from '@clinical-launch/contracts/time';
import { isFor, type PatientTraits } from '../domain/applies-to.ts';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import { chosenTests, type Draft, type Notice } from '../domain/draft.ts';
import type { OrderAgain } from '../domain/order-again.ts';
import { listed } from '../domain/panels.ts';
import { isSameName, listName } from '../domain/person-name.ts';
import type { OwnChoices } from '../domain/practice-choices.ts';
import type { TestRequest } from '../domain/test-request.ts';

/**
 * The number of characters that fit on the line of chips beside the heading at 1280 pixels. A button shows
 * further chips. The borders of a chip are as wide as `chipBorder` characters.
 */
const lineLength = 105;
const chipBorder = 3;
/** The number of characters of test names on the button "Same as last time". */
const againLength = 24;

export type ShortcutsBasis = {
  readonly draft: Draft;
  readonly catalogue: Catalogue;
  readonly own: OwnChoices;
  /** Codes of the tests that the practice requests most, most requested first. */
  readonly mostRequested: readonly string[];
  readonly patient: PatientTraits;
  readonly context: Pick<LaunchContext, 'request'>;
  /** The request whose tests a new order can repeat. */
  readonly earlier: (Pick<OrderAgain, 'tests'> & { readonly request: TestRequest }) | undefined;
  /** IANA name */
  readonly timeZone: string;
};

const maxMostRequested = 16;

/**
 * Presents the chips, each of which chooses a test. First come the favourites of the user and the practice.
 * Then come the practice's most requested tests and the catalogue's common tests. Each test appears once, and
 * only if it is in the catalogue and applies to the patient.
 */
export function presentShortcuts(basis: ShortcutsBasis) {
  const again = presentAgain(basis);
  const { draft, catalogue, own, patient } = basis;
  const mostRequested = [...basis.mostRequested, ...catalogue.common.map(({ code }) => code)];
  const chosen = new Set(chosenTests(draft, catalogue).map(({ code }) => code));
  const shown = new Set<string>();
  const chips = (['yours', 'practice', 'most-requested'] as const).flatMap((id) => {
    const codes = { yours: own.personal, practice: own.favourites, 'most-requested': mostRequested }[id];
    return codes
      .flatMap((code) => catalogue.orderables.get(code) ?? [])
      .filter((test) => isFor(test, patient) && !shown.has(test.code) && shown.add(test.code))
      .map((test) => ({ id, test: { ...test, isChosen: chosen.has(test.code) } }));
  });
  const favourites = chips.filter(({ id }) => id !== 'most-requested');
  const lengths = favourites.map(({ id, test }, at) => {
    const label = favourites[at - 1]?.id === id ? 0 : labels[id].length;
    return label + shortName(test).length + chipBorder;
  });
  const onLine = countFitting(lengths, lineLength - (again?.text.length ?? 0));
  return {
    again,
    line: grouped(favourites.slice(0, onLine)),
    more: grouped(favourites.slice(onLine)),
    most: chips
      .filter(({ id }) => id === 'most-requested')
      .slice(0, maxMostRequested)
      .map(({ test }) => test),
  };
}

/** Presents the button that repeats the tests of an earlier request, if any of its tests can be ordered. */
function presentAgain({ earlier, context, timeZone }: ShortcutsBasis) {
  if (earlier === undefined || earlier.tests.length === 0) return undefined;
  const { tests, request } = earlier;
  const short = tests.map(shortName);
  const named = Math.max(
    1,
    countFitting(
      short.map(({ length }) => length),
      againLength,
    ),
  );
  const date = writtenDate(localDay(Date.parse(request.createdAt), timeZone));
  const more = tests.length > named ? ` and ${tests.length - named} more` : '';
  const { name } = request.parties.patient;
  const isSame = isSameName(name, context.request.patient.name);
  const check = isSame ? '' : `. Check the patient: made for ${listName(name)}`;
  return {
    guid: request.guid,
    text: `Same as last time, ${date}: ${short.slice(0, named).join(', ')}${more}${check}`,
    names: listed(tests.map(({ name }) => name)),
  };
}

const shortName = ({ name, abbreviation }: Orderable) => abbreviation ?? name;

/** Returns how many items, starting with the first, have a total length of at most `all`. */
function countFitting(lengths: readonly number[], all: number): number {
  let used = 0;
  const at = lengths.findIndex((length) => {
    used += length;
    return used > all;
  });
  return at === -1 ? lengths.length : at;
}

/** Describes the repeated tests, and the tests that are not in the catalogue. */
export function describeAgain(
  again: Notice['again'],
  { orderables }: Pick<Catalogue, 'orderables'>,
): string[] {
  if (again === undefined) return [];
  const names = again.codes.flatMap((code) => orderables.get(code)?.name ?? []);
  const [day, missing] = [writtenDate(again.day), again.missing];
  const tooSoon = (again.tooSoon ?? []).flatMap((code) => orderables.get(code)?.name ?? []);
  const areMissing = `Not added, because ${missing.length === 1 ? 'it is' : 'they are'} not in the catalogue`;
  return [
    ...(names.length === 0 ? [] : [`Chosen as on ${day}: ${listed(names)}.`]),
    ...(tooSoon.length === 0
      ? []
      : [`Imaging and tests within their usual interval were not added: ${listed(tooSoon)}.`]),
    ...(missing.length === 0 ? [] : [`${areMissing}: ${listed(missing)}.`]),
  ];
}

const labels = { yours: 'Yours', practice: 'Practice', 'most-requested': 'Most requested' } as const;

type Chip<Test> = { readonly id: keyof typeof labels; readonly test: Test };

function grouped<Test>(chips: readonly Chip<Test>[]) {
  return [...Map.groupBy(chips, ({ id }) => id)].map(([id, own]) => ({
    id,
    label: labels[id],
    tests: own.map(({ test }) => test),
  }));
}
