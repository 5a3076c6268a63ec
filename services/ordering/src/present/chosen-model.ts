import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import { changeTests, newLocations } from '../domain/change-tests.ts';
import { drawList, planBatches, samplesInDrawOrder } from '../domain/collection.ts';
import { chosenTests, type Draft, differenceOf } from '../domain/draft.ts';
import { isLive } from '../domain/lifecycle.ts';
import { coveredBy } from '../domain/panels.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import type { ChoosingVisit } from '../http/choosing-visit.ts';
import { type RepeatNeeds, repeatsAmong } from '../work/find-repeats.ts';
import { describeRepeat } from './repeat-warning.ts';
import { describeTakenOff } from './taken-off.ts';

/** What the panel and the review show of the chosen tests. */
export async function presentChosen(visit: ChoosingVisit, draft: Draft, needs: RepeatNeeds) {
  const { catalogue } = needs;
  const { changed } = visit;
  const chosen = chosenTests(draft, catalogue);
  const { added, removed } = differenceOf(draft, catalogue);
  const addedTests = chosen.filter(({ code }) => added.includes(code));
  const repeats = (await repeatsAmong(addedTests, visit, needs)).map((repeat) => ({
    test: repeat.test,
    said: describeRepeat(repeat),
  }));
  const batches = planBatches(chosen, catalogue);
  const areFavouritesFull = draft.notice?.areFavouritesFull === true;
  return {
    chosen,
    added,
    removed: linesOf(changed, removed),
    // What the request has of an older catalogue.
    retired: linesOf(
      changed,
      draft.chosen.filter((code) => !catalogue.orderables.has(code)),
    ),
    takenCodes: takenCodes(changed),
    batches,
    draws:
      changed === undefined
        ? drawList(batches).map(({ container, tests, location }) => ({
            container,
            description: `${container.name}, ${container.closure}`,
            detail: drawDetail(tests.length, location.name),
          }))
        : drawsAfter(changed, { added: addedTests, removed }, needs),
    repeats,
    warnings: Object.fromEntries(repeats.map(({ test, said }) => [test.code, said])),
    covered: coveredBy(draft.chosen, catalogue),
    said: [
      ...describeTakenOff(draft.notice?.takenOff ?? [], draft.chosen, catalogue),
      ...(areFavouritesFull ? ['There is no room for another favourite.'] : []),
    ],
    areFavouritesFull,
    isChange: changed !== undefined,
  };
}

const drawDetail = (tests: number, location: string) =>
  `${tests} ${tests === 1 ? 'test' : 'tests'} · ${location}`;

/** The lines of the request that have these codes, as the request calls them. */
function linesOf(changed: TestRequest | undefined, codes: readonly string[]) {
  const lines = changed?.batches.flatMap(({ tests }) => tests.filter(isLive)) ?? [];
  return lines
    .filter((line) => codes.includes(codeOf(line)))
    .map((line) => ({ code: codeOf(line), name: line.description, isTaken: line.status === 'S' }));
}

/** The codes of the request's tests whose sample was taken. */
const takenCodes = (changed: TestRequest | undefined) =>
  changed?.batches.flatMap(({ tests }) => tests.filter(({ status }) => status === 'S').map(codeOf)) ?? [];

/** What is then still to be taken. A test joins an open sample of the request, so the change itself has to say. */
function drawsAfter(
  request: TestRequest,
  { added, removed }: { added: readonly Orderable[]; removed: readonly string[] },
  { catalogue, clock }: Pick<RepeatNeeds, 'catalogue' | 'clock'>,
) {
  const add = added.map((test) => ({ test }));
  const after = changeTests(request, {
    add,
    remove: removed,
    now: new Date(clock.now()).toISOString(),
    batchNumbers: newLocations(request.batches, add).map(() => 0),
    newGuid: () => '',
  });
  return samplesInDrawOrder(after, catalogue)
    .filter(({ sample }) => sample.completedAt === undefined)
    .map(({ sample, container, tests, batch }) => ({
      container,
      description: container === undefined ? sample.description : `${container.name}, ${container.closure}`,
      detail: drawDetail(tests.length, batch.provider.name),
    }));
}

/** The sections of the catalogue's page: the practice's favourites first, and each test once. */
export function presentSections(
  catalogue: Catalogue,
  tests: readonly (Orderable & { readonly isFavourite: boolean; readonly isMatch: boolean })[],
) {
  const favourites = tests.filter(({ isFavourite }) => isFavourite);
  const sections = catalogue.groups.map((group) => {
    const own = tests.filter((test) => test.group === group);
    return {
      ...group,
      tests: own.filter(({ isFavourite }) => !isFavourite),
      elsewhere: own.filter(({ isFavourite }) => isFavourite).map(({ name }) => name),
    };
  });
  const first = { id: 'favourites', name: 'Favourites of this practice', tests: favourites, elsewhere: [] };
  return [...(favourites.length === 0 ? [] : [first]), ...sections].map((section) => ({
    ...section,
    isMatch: section.tests.some(({ isMatch }) => isMatch),
  }));
}
