import { readForm } from '@clinical-launch/service';
import type { Catalogue } from '../domain/catalogue.ts';
import { drawList, planBatches } from '../domain/collection.ts';
import { applyChoice, type Choice, chosenTests, type Draft, readChoiceAction } from '../domain/draft.ts';
import type { TestSearch } from '../domain/search.ts';
import { faultyForm } from '../errors.ts';
import type { Drafts } from '../store/drafts.ts';
import type { Show } from './show.ts';
import type { Visit, VisitHandler } from './visit.ts';

type ChooseNeeds = {
  readonly catalogue: Catalogue;
  readonly search: TestSearch;
  readonly drafts: Drafts;
  readonly show: Show;
};

/** `GET /oltr/{launchId}/`: the catalogue with what is chosen; `?nothing-chosen` says that a review needs a test. */
export function showChoice({ drafts, show, ...needs }: ChooseNeeds): VisitHandler {
  return async (visit) => {
    const draft = await drafts.find(visit.launchId);
    const isNothingChosen =
      draft.chosen.length === 0 && visit.request.originalUrl.endsWith('?nothing-chosen');
    show(visit, 'choose.njk', {
      ...presentCatalogue(draft, needs),
      ...presentChosen(draft, needs.catalogue),
      isNothingChosen,
      addedSet: draft.addedSet === undefined ? undefined : needs.catalogue.orderSets.get(draft.addedSet),
    });
  };
}

/** `POST /oltr/{launchId}/`: every button of that page. Answers with a redirect, so a reload posts nothing again. */
export function postChoice(needs: ChooseNeeds): VisitHandler {
  return async (visit) => {
    const choice = await readChoice(visit, needs.catalogue);
    await needs.drafts.change(visit.launchId, (draft) => applyChoice(draft, choice, needs.catalogue));
    visit.response.redirect(303, nextPage(visit.home, choice));
  };
}

function nextPage(home: string, { action }: Choice): string {
  switch (action.kind) {
    case 'review':
      return `${home}review`;
    case 'remove':
      return `${home}#chosen`;
    case 'search':
    case 'clear-search':
      return `${home}#search`;
    case 'update':
    case 'add-set':
      return home;
  }
}

/** `POST /oltr/{launchId}/chosen`: the same form, answered with the panel of the chosen tests alone. */
export function postChosenPanel({ drafts, catalogue, show }: ChooseNeeds): VisitHandler {
  return async (visit) => {
    const choice = await readChoice(visit, catalogue);
    const draft = await drafts.change(visit.launchId, (before) => applyChoice(before, choice, catalogue));
    show(visit, 'chosen.njk', presentChosen(draft, catalogue));
  };
}

/** `POST /oltr/{launchId}/matches`: the codes of the tests that a search finds. A post keeps it out of addresses. */
export function postMatches({ search }: ChooseNeeds): VisitHandler {
  return async ({ request, response }) => {
    const form = await readForm(request, response);
    response.json({ codes: [...search(form.get('q') ?? '')] });
  };
}

/** @throws ServiceError 400 for a button that no page of ours has. */
async function readChoice({ request, response }: Visit, catalogue: Catalogue): Promise<Choice> {
  const form = await readForm(request, response);
  // Without a button (the Enter key of an old browser) the form says what is ticked and no more.
  const action = readChoiceAction(form.get('action') ?? 'update', catalogue);
  if (action === undefined) throw faultyForm();
  const search = form.get('q');
  return {
    action,
    ticked: form.getAll('test'),
    was: form.getAll('was'),
    ...(search === null ? {} : { search }),
  };
}

function presentCatalogue(
  draft: Draft,
  { catalogue, search }: Pick<ChooseNeeds, 'catalogue' | 'search'>,
): object {
  const matches = search(draft.search);
  const tests = [...catalogue.orderables.values()].map((test) => ({
    ...test,
    isChosen: draft.chosen.includes(test.code),
    isMatch: matches.has(test.code),
  }));
  return {
    query: draft.search,
    matchCount: matches.size,
    testCount: tests.length,
    orderSets: [...catalogue.orderSets.values()],
    groups: catalogue.groups.map((group) => {
      const own = tests.filter((test) => test.group === group);
      return { ...group, tests: own, isMatch: own.some(({ isMatch }) => isMatch) };
    }),
  };
}

/** What the panel, the review and the result page show of the chosen tests. */
export function presentChosen(draft: Draft, catalogue: Catalogue) {
  const chosen = chosenTests(draft, catalogue);
  const batches = planBatches(chosen, catalogue);
  return { chosen, batches, draws: drawList(batches) };
}
