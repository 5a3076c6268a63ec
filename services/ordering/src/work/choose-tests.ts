import { type PatientTraits, setFor, traitsOf } from '../domain/applies-to.ts';
import type { OrderSet } from '../domain/catalogue.ts';
import { applyChoice, type ChoiceAction, type ChoiceForm } from '../domain/choice.ts';
import { beginningOf, chosenTests, cleanText, type Draft, type Notice } from '../domain/draft.ts';
import { maxSetNameLength, orderSetOf } from '../domain/practice-choices.ts';
import type { OrderingTransaction } from '../store/database.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { choicesKeyOf } from '../store/keys.ts';
import {
  type Addition,
  deleteFavourite,
  deletePracticeSet,
  findPracticeChoices,
} from '../store/practice-choices.ts';
import { addFavourite, savePracticeSet } from './change-practice-choices.ts';
import type { WorkDependencies } from './dependencies.ts';
import { type RepeatsBasis, servedBy } from './find-repeats.ts';
import { type Choosing, type Launch, patientOf } from './launch.ts';

type ChooseDependencies = Pick<WorkDependencies, 'database' | 'clock' | 'timeZone'>;

/** The new draft, and the button that was pressed. */
export type ChosenTests = { readonly draft: Draft; readonly action: ChoiceAction };

/** Handles a button of the page that chooses tests: changes the draft and the practice's own choices. */
export function chooseTests(
  { database, clock, timeZone }: ChooseDependencies,
  { context, catalogue, place, beginning, changed }: Pick<Launch, 'context'> & Choosing,
  form: ChoiceForm,
): Promise<ChosenTests> {
  const { practice, author } = context.request;
  const practiceKey = choicesKeyOf(practice, context.client, catalogue.id);
  const now = clock.now();
  const patient = traitsOf(patientOf({ context, changed }), { now, timeZone });
  const addition = { by: author, at: new Date(now).toISOString() };
  return database.transaction().execute(async (tx) => {
    const before = await lockDraft(tx, place, { beginning, now });
    const action = await actionOf(tx, form, {
      practiceKey,
      patient,
      before,
      basis: { catalogue, context, changed, now, timeZone },
    });
    // A set of the practice that another user deleted since the page was created.
    const isGone = form.button.kind === 'add-set' && action.kind !== 'add-set';
    const chosen = applyChoice(before, { ...form, action }, catalogue);
    const tests = chosenTests(chosen, catalogue).map(({ code }) => code);
    const change = { action, practiceKey, setName: form.setName, tests };
    const notice = isGone ? setIsGone : await changePracticeChoices(tx, change, addition);
    const draft = notice === undefined ? chosen : { ...chosen, notice: { ...chosen.notice, ...notice } };
    await storeDraft(tx, place, { draft, now });
    return { draft, action };
  });
}

const setIsGone: Notice = { practiceSet: { outcome: 'gone', name: '' } };

/**
 * Returns the button with the order set that it adds, or only that of the form if the practice no longer has
 * the set.
 */
async function actionOf(
  tx: OrderingTransaction,
  form: ChoiceForm,
  { practiceKey, patient, before, basis }: ActionBasis,
): Promise<ChoiceAction> {
  const { button } = form;
  const { catalogue } = basis;
  if (button.kind === 'use') {
    const draft = applyChoice(before, { ...form, action: { kind: 'update' } }, catalogue);
    const { orderReference } = button;
    return { ...button, codes: await servedBy(tx, { ...basis, draft, orderReference }) };
  }
  if (button.kind !== 'add-set') return button;
  const offered = catalogue.orderSets.get(button.id);
  if (offered !== undefined) return addSet(offered, patient);
  const { sets } = await findPracticeChoices(tx, practiceKey);
  const own = sets.find(({ id }) => id === button.id);
  return own === undefined ? { kind: 'update' } : addSet(orderSetOf(own, catalogue), patient);
}

type ActionBasis = {
  readonly practiceKey: string;
  readonly patient: PatientTraits;
  /** The draft before the form. */
  readonly before: Draft;
  readonly basis: Omit<RepeatsBasis, 'tests'>;
};

function addSet(offered: OrderSet, patient: PatientTraits): ChoiceAction {
  const set = setFor(offered, patient);
  const leftOut = offered.tests.filter((test) => !set.tests.includes(test)).map(({ code }) => code);
  return { kind: 'add-set', set, leftOut };
}

type PracticeChange = {
  readonly action: ChoiceAction;
  readonly practiceKey: string;
  readonly setName: string;
  /** Codes of the chosen tests. */
  readonly tests: readonly string[];
};

/** Handles a button for the practice's own choices. Resolves with the notice for the user, if any. */
async function changePracticeChoices(
  tx: OrderingTransaction,
  { action, practiceKey, setName, tests }: PracticeChange,
  addition: Addition,
): Promise<Notice | undefined> {
  switch (action.kind) {
    case 'favourite': {
      const done = await addFavourite(tx, { practiceKey, code: action.code }, addition);
      return done === 'full' ? { areFavouritesFull: true } : undefined;
    }
    case 'unfavourite':
      await deleteFavourite(tx, practiceKey, action.code);
      return undefined;
    case 'save-set': {
      const name = beginningOf(cleanText(setName).replace(/\s+/g, ' '), maxSetNameLength).trim();
      if (tests.length === 0) return { practiceSet: { outcome: 'empty', name } };
      if (name === '') return { practiceSet: { outcome: 'unnamed', name } };
      const outcome = await savePracticeSet(tx, { practiceKey, name, tests }, addition);
      return { practiceSet: { outcome, name } };
    }
    case 'delete-set': {
      const name = await deletePracticeSet(tx, practiceKey, action.id);
      return { practiceSet: { outcome: name === undefined ? 'gone' : 'deleted', name: name ?? '' } };
    }
    default:
      return undefined;
  }
}
