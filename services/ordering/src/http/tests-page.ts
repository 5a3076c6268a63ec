import { redirect, sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import type { Catalogue } from '../domain/catalogue.ts';
import {
  type ChoiceAction,
  type ChoiceForm,
  changesPractice,
  maxSearchLength,
  readChoiceButton,
} from '../domain/choice.ts';
import type { Draft } from '../domain/draft.ts';
import { offeredTests } from '../domain/offered-tests.ts';
import { maxSetNameLength } from '../domain/practice-choices.ts';
import { faultyForm, notPracticeEditor } from '../errors.ts';
import { describeNotOffered } from '../present/applies-to-text.ts';
import { presentCatalogue } from '../present/catalogue-model.ts';
import { presentChosen } from '../present/chosen-model.ts';
import { presentOffer } from '../present/offer-model.ts';
import { presentShortcuts } from '../present/shortcuts-model.ts';
import { chooseTests } from '../work/choose-tests.ts';
import { findOthersUnderNumber } from '../work/find-requests.ts';
import { findOffer, readDraft, readOwnChoices, readShortcuts } from '../work/read-choice.ts';
import { selectTests } from '../work/select-tests.ts';
import type { Dependencies } from './dependencies.ts';
import { type ChoosingVisit, readLaunchForm } from './visit.ts';

/**
 * Shows the catalogue with the chosen tests: `GET …/`. With `?nothing-chosen`, the page states that a review
 * needs at least one test. With `?offer-gone` or `?tests-chosen`, it states why an offered draft was neither
 * continued nor discarded.
 */
export function showChoice(dependencies: Dependencies): Handler<ChoosingVisit> {
  const { searchIn, show, write } = dependencies;
  return async (visit) => {
    const { catalogue, changed, patient } = visit;
    const draft = await readDraft(dependencies, visit);
    const flags = queryOf(visit.request);
    const own = await readOwnChoices(dependencies, visit);
    const offer = await findOffer(dependencies, visit, draft);
    show(visit, 'choose.njk', {
      ...(changed === undefined ? { isNewRequest: true } : { about: changed }),
      otherBirths: await findOthersUnderNumber(dependencies, visit.context),
      ...presentCatalogue({ draft, catalogue, own, patient, search: searchIn(catalogue) }),
      shortcuts: presentShortcuts({
        ...visit,
        draft,
        own,
        ...(await readShortcuts(dependencies, visit)),
      }),
      ...(await chosenPanel(visit, draft, dependencies)),
      restoredFrom: draft.restoredFrom && write(draft.restoredFrom),
      offer: offer && presentOffer(offer, catalogue, write),
      isOfferGone: flags.has('offer-gone'),
      areTestsChosen: flags.has('tests-chosen'),
      isNothingChosen: draft.chosen.length === 0 && flags.has('nothing-chosen'),
      practiceSet: draft.notice?.practiceSet,
      maxSetNameLength,
      mayEditPractice: isEditor(visit),
    });
  };
}

/**
 * Handles every button of the page for choosing tests: `POST …/`. Redirects, so that a reload does not post
 * the form again.
 */
export function postChoice(dependencies: Dependencies): Handler<ChoosingVisit> {
  return async (visit) => {
    const form = await readAllowedForm(visit);
    const { names } = dependencies.searchIn(visit.catalogue);
    const { action } = await chooseTests(dependencies, visit, { ...form, names });
    redirect(visit.response, nextPage(visit.base, action));
  };
}

function nextPage(base: string, action: ChoiceAction): string {
  switch (action.kind) {
    case 'review':
      return action.stays === true ? base : `${base}review`;
    case 'cancel':
      return `${base}review`;
    case 'remove':
    case 'clear':
    case 'use':
      return `${base}#chosen`;
    case 'search':
    case 'clear-search':
      return `${base}#search`;
    case 'favourite':
    case 'unfavourite':
      return `${base}#test-${action.code}`;
    case 'update':
    case 'add':
    case 'add-set':
    case 'again':
    case 'undo':
    case 'add-practice-favourites':
    case 'remove-practice-favourite':
    case 'save-set':
    case 'delete-set':
      return base;
  }
}

/**
 * Handles the form of this page when a script sends it: `POST …/chosen`. Answers with only the panel of the
 * chosen tests. After a change of favourites, also answers with the chips.
 */
export function postChosenPanel(dependencies: Dependencies): Handler<ChoosingVisit> {
  return async (visit) => {
    const form = await readAllowedForm(visit);
    const { names } = dependencies.searchIn(visit.catalogue);
    const { draft, action } = await chooseTests(dependencies, visit, { ...form, names });
    const isOfFavourites = ['favourite', 'unfavourite', 'undo'].includes(action.kind);
    dependencies.show(visit, 'panel.njk', {
      ...(await chosenPanel(visit, draft, dependencies)),
      ...(isOfFavourites
        ? {
            shortcuts: presentShortcuts({
              ...visit,
              draft,
              own: await readOwnChoices(dependencies, visit),
              ...(await readShortcuts(dependencies, visit)),
            }),
          }
        : {}),
    });
  };
}

/**
 * Answers `POST …/matches` with the codes of the tests that match a search, best match first, and with notes
 * on matches that cannot be chosen. The method is POST, so that the search appears in no URL.
 */
export function postMatches(dependencies: Dependencies): Handler<ChoosingVisit> {
  return async (visit) => {
    const { catalogue } = visit;
    const { searchIn } = dependencies;
    const form = await readLaunchForm(visit);
    const query = (form.get('q') ?? '').slice(0, maxSearchLength);
    const { patient } = visit;
    const offered = offeredTests({ catalogue, query, patient, search: searchIn(catalogue) });
    const notes = describeNotOffered(offered, patient);
    sendJson(visit.response, { codes: [...offered.codes], notes });
  };
}

async function chosenPanel(visit: ChoosingVisit, draft: Draft, { database }: Dependencies) {
  const selected = await selectTests(database, visit, draft);
  const { patient, changed, catalogue, now } = visit;
  return presentChosen({ draft, ...selected, patient, changed, catalogue, now });
}

/**
 * Reads the form of the page for choosing tests.
 * @throws ServiceError 403 if the user may not change the practice's favourites or order sets. Also throws
 * the errors of `readLaunchForm` and `readChoiceForm`
 */
async function readAllowedForm(visit: ChoosingVisit): Promise<ChoiceForm> {
  const form = readChoiceForm(await readLaunchForm(visit), visit.catalogue);
  if (changesPractice(form.button) && !isEditor(visit)) throw notPracticeEditor();
  return form;
}

/**
 * Returns whether the user may change the practice's favourites and order sets. If the directory lists no
 * editors, every user may change them.
 */
const isEditor = ({ context }: ChoosingVisit) => context.isPracticeEditor !== false;

/** @throws ServiceError 400 for a button that no page contains */
function readChoiceForm(form: URLSearchParams, catalogue: Catalogue): ChoiceForm {
  // Without a button, as from the Enter key in an old browser, the form only stores the ticked boxes.
  const button = readChoiceButton(form.get('action') ?? 'update', catalogue);
  if (button === undefined) throw faultyForm();
  const search = form.get('q');
  return {
    button,
    ticked: form.getAll('test'),
    was: form.getAll('was'),
    setName: form.get('set-name') ?? '',
    ...(search === null ? {} : { search }),
  };
}
