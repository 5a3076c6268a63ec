import { guidForm, queryOf } from '@clinical-launch/service/http';
import { applyChoice, type Choice, maxSearchLength, readChoiceAction } from '../domain/choice.ts';
import type { Draft, Notice } from '../domain/draft.ts';
import { coveredBy } from '../domain/panels.ts';
import type { TestSearch } from '../domain/test-search.ts';
import { faultyForm } from '../errors.ts';
import { presentChosen, presentSections } from '../present/chosen-model.ts';
import type { Drafts } from '../store/drafts.ts';
import { maxSetNameLength, type PracticeChoices } from '../store/practice-choices.ts';
import type { RepeatNeeds } from '../work/find-repeats.ts';
import { changePracticeChoices, offerOf, type PracticeOffer } from '../work/practice-offer.ts';
import type { ChoosingVisit } from './choosing-visit.ts';
import type { Show } from './show.ts';
import { readLaunchForm } from './visit.ts';

/** Answers a visit to the pages that choose tests. */
export type ChoosingHandler = (visit: ChoosingVisit) => Promise<void>;

type ChooseNeeds = RepeatNeeds & {
  readonly search: TestSearch;
  readonly drafts: Drafts;
  readonly practiceChoices: PracticeChoices;
  readonly show: Show;
};

/** `GET …/`: the catalogue with what is chosen; `?nothing-chosen` says that a review needs a test. */
export function showChoice({ drafts, show, ...needs }: ChooseNeeds): ChoosingHandler {
  return async (visit) => {
    const draft = await drafts.find(visit.place, visit.begin);
    const offer = await offerOf(visit, needs);
    const isNothingChosen = draft.chosen.length === 0 && queryOf(visit.request).has('nothing-chosen');
    show(visit, 'choose.njk', {
      ...(visit.changed === undefined ? {} : { about: visit.changed }),
      ...presentCatalogue(draft, offer, needs.search),
      ...(await presentChosen(visit, draft, needs)),
      isNothingChosen,
      practiceSet: draft.notice?.practiceSet,
      maxSetNameLength,
    });
  };
}

/** `POST …/`: every button of that page. Answers with a redirect, so a reload posts nothing again. */
export function postChoice(needs: ChooseNeeds): ChoosingHandler {
  return async (visit) => {
    const { choice } = await choose(visit, needs);
    visit.response.redirect(303, nextPage(visit.base, choice));
  };
}

function nextPage(base: string, { action }: Choice): string {
  switch (action.kind) {
    case 'review':
      return `${base}review`;
    case 'remove':
      return `${base}#chosen`;
    case 'search':
    case 'clear-search':
      return `${base}#search`;
    case 'favourite':
    case 'unfavourite':
      return `${base}#group-favourites`;
    case 'update':
    case 'add-set':
    case 'save-set':
    case 'delete-set':
      return base;
  }
}

/** `POST …/chosen`: the same form, answered with the panel of the chosen tests alone. */
export function postChosenPanel(needs: ChooseNeeds): ChoosingHandler {
  return async (visit) => {
    const { draft } = await choose(visit, needs);
    needs.show(visit, 'chosen.njk', await presentChosen(visit, draft, needs));
  };
}

/** `POST …/matches`: the codes of the tests that a search finds. A post keeps it out of addresses. */
export function postMatches({ search }: ChooseNeeds): ChoosingHandler {
  return async (visit) => {
    const form = await readLaunchForm(visit);
    visit.response.json({ codes: [...search((form.get('q') ?? '').slice(0, maxSearchLength))] });
  };
}

async function choose(visit: ChoosingVisit, needs: ChooseNeeds): Promise<{ choice: Choice; draft: Draft }> {
  const { drafts, catalogue } = needs;
  const { place, begin } = visit;
  const form = await readLaunchForm(visit);
  const { choice, notice } = await readChoice(visit, form, needs);
  const draft = await drafts.change(place, (before) => applyChoice(before, choice, catalogue), begin);
  const asked = { action: choice.action, setName: form.get('set-name') ?? '', draft };
  const said = notice ?? (await changePracticeChoices(visit, asked, needs));
  if (said === undefined) return { choice, draft };
  const withNotice = (before: Draft) => ({ ...before, notice: { ...before.notice, ...said } });
  return { choice, draft: await drafts.change(place, withNotice, begin) };
}

const addSet = 'add-set:';

/** @throws ServiceError 400 for a button that no page of ours has. */
async function readChoice(
  visit: ChoosingVisit,
  form: URLSearchParams,
  needs: ChooseNeeds,
): Promise<{ choice: Choice; notice?: Notice }> {
  // Without a button (the Enter key of an old browser) the form says what is ticked and no more.
  const value = form.get('action') ?? 'update';
  const { catalogue } = needs;
  const offer = value.startsWith(addSet)
    ? await offerOf(visit, needs)
    : { catalogue, orderSets: catalogue.orderSets };
  const action = readChoiceAction(value, offer);
  const search = form.get('q');
  const rest = {
    ticked: form.getAll('test'),
    was: form.getAll('was'),
    ...(search === null ? {} : { search }),
  };
  if (action !== undefined) return { choice: { action, ...rest } };
  // A set of the practice that somebody deleted since the page was made.
  if (!value.startsWith(addSet) || !guidForm.test(value.slice(addSet.length))) throw faultyForm();
  const notice = { practiceSet: { outcome: 'gone', name: '' } } as const;
  return { choice: { action: { kind: 'update' }, ...rest }, notice };
}

function presentCatalogue(draft: Draft, offer: PracticeOffer, search: TestSearch): object {
  const { catalogue, favourites, orderSets, practiceSets } = offer;
  const matches = search(draft.search);
  const panels = new Map(
    coveredBy(draft.chosen, catalogue).map(({ test, panel }) => [test.code, panel.name]),
  );
  const tests = [...catalogue.orderables.values()].map((test) => ({
    ...test,
    isChosen: draft.chosen.includes(test.code) && !panels.has(test.code),
    isMatch: matches.has(test.code),
    isFavourite: favourites.has(test.code),
    includedIn: panels.get(test.code),
    parts: test.covers.flatMap((code) => catalogue.orderables.get(code)?.name ?? []),
  }));
  const addedSet = draft.notice?.addedSet;
  return {
    query: draft.search,
    matchCount: matches.size,
    testCount: tests.length,
    orderSets: [...catalogue.orderSets.values()],
    practiceSets,
    addedSet: addedSet === undefined ? undefined : orderSets.get(addedSet),
    groups: presentSections(catalogue, tests),
  };
}
