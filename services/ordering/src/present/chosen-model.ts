import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import { changeTests, newLocations } from '../domain/change-tests.ts';
import { drawList, planBatches, samplesInDrawOrder } from '../domain/collection.ts';
import type { Draft } from '../domain/draft.ts';
import { isLive } from '../domain/lifecycle.ts';
import { coveredBy } from '../domain/panels.ts';
import type { Repeat } from '../domain/repeats.ts';
import type { Selection } from '../domain/selection.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import { describeRepeat } from './repeat-warning.ts';
import { describeTakenOff } from './taken-off.ts';

export type Chosen = {
  readonly draft: Draft;
  readonly selection: Selection;
  readonly repeats: readonly Repeat[];
  /** The request that is changed; absent when it is a new order. */
  readonly changed: TestRequest | undefined;
  readonly catalogue: Catalogue;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
};

/** Presents the chosen tests, as the panel and the review show them. */
export function presentChosen({ draft, selection, repeats, changed, catalogue, now }: Chosen) {
  const { tests: chosen, added, addedTests, removed } = selection;
  const batches = planBatches(chosen, catalogue);
  const areFavouritesFull = draft.notice?.areFavouritesFull === true;
  const warnings = repeats.map((repeat) => ({ test: repeat.test, said: describeRepeat(repeat) }));
  return {
    chosen,
    added,
    removed: linesOf(changed, removed),
    // Tests of the request from an older catalogue.
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
        : drawsAfter(changed, { added: addedTests, removed, catalogue, now }),
    repeats: warnings,
    warnings: Object.fromEntries(warnings.map(({ test, said }) => [test.code, said])),
    covered: coveredBy(draft.chosen, catalogue),
    said: [
      ...describeTakenOff(draft.notice?.takenOff ?? [], draft.chosen, catalogue),
      ...(areFavouritesFull ? ['You cannot add another favourite. Remove one first.'] : []),
    ],
    areFavouritesFull,
    isChange: changed !== undefined,
  };
}

const drawDetail = (tests: number, location: string) =>
  `${tests} ${tests === 1 ? 'test' : 'tests'} · ${location}`;

/** Returns the lines of the request with these codes, in the request's own words. */
function linesOf(changed: TestRequest | undefined, codes: readonly string[]) {
  const lines = changed?.batches.flatMap(({ tests }) => tests.filter(isLive)) ?? [];
  return lines
    .filter((line) => codes.includes(codeOf(line)))
    .map((line) => ({ code: codeOf(line), name: line.description, isTaken: line.status === 'S' }));
}

/** Returns the codes of the request's tests whose sample was taken. */
const takenCodes = (changed: TestRequest | undefined) =>
  changed?.batches.flatMap(({ tests }) => tests.filter(({ status }) => status === 'S').map(codeOf)) ?? [];

/**
 * Returns the samples that are still to be taken after the change. A test can join an untaken sample of the
 * request, so only the change itself knows.
 */
function drawsAfter(
  request: TestRequest,
  {
    added,
    removed,
    catalogue,
    now,
  }: Pick<Selection, 'removed'> & Pick<Chosen, 'catalogue' | 'now'> & { added: readonly Orderable[] },
) {
  const add = added.map((test) => ({ test }));
  const after = changeTests(request, {
    add,
    remove: removed,
    now: new Date(now).toISOString(),
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
