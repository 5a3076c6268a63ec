import { randomUUID } from 'node:crypto';
import { localDay } from '@clinical-launch/contracts/time';
import type { NameIndex } from '../../public/named-tests.js';
import { type PatientTraits, setFor } from '../domain/applies-to.ts';
import type { OrderSet } from '../domain/catalogue.ts';
import { applyChoice, type ChoiceAction, type ChoiceForm, removedBy, reviewOf } from '../domain/choice.ts';
import {
  beginningOf,
  chosenTests,
  cleanText,
  type Draft,
  type FavouritesOutcome,
  type Notice,
  type Removed,
} from '../domain/draft.ts';
import { maxSetNameLength, orderSetOf } from '../domain/practice-choices.ts';
import type { OrderingTransaction } from '../store/database.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { choicesKeyOf, userKeyOf } from '../store/keys.ts';
import { deletePersonalFavourite } from '../store/personal-favourites.ts';
import {
  type Addition,
  deleteFavourite,
  deletePracticeSet,
  findPracticeChoices,
} from '../store/practice-choices.ts';
import { addFavourite, addPersonalFavourite, savePracticeSet } from './change-practice-choices.ts';
import { getEarlierOrder, repeatOrder } from './find-earlier-order.ts';
import type { Choosing, WorkDependencies } from './launch.ts';
import { servedBy } from './select-tests.ts';

/** The new draft, and the action of the button that the user pressed. */
export type ChosenTests = { readonly draft: Draft; readonly action: ChoiceAction };

/**
 * Handles a button of the page for choosing tests. Changes the draft, or favourites and order sets of the
 * user or the practice.
 */
export function chooseTests(
  { database }: Pick<WorkDependencies, 'database'>,
  choosing: Choosing,
  form: ChoiceForm & { readonly names: NameIndex },
): Promise<ChosenTests> {
  const { context, catalogue, place, beginning, now } = choosing;
  const { practice, author } = context.request;
  const practiceKey = choicesKeyOf(practice, context.client, catalogue.id);
  const userKey = userKeyOf(context.request, context.client, catalogue.id);
  const addition = { by: author, at: new Date(now).toISOString() };
  return database.transaction().execute(async (tx) => {
    const before = await lockDraft(tx, place, { beginning, now });
    const action = await actionOf(tx, form, { practiceKey, before, choosing });
    // True if another user has deleted the order set since the page was created.
    const isGone = form.button.kind === 'add-set' && action.kind !== 'add-set';
    const chosen = applyChoice(before, { ...form, action }, catalogue);
    const tests = chosenTests(chosen, catalogue).map(({ code }) => code);
    const change = { action, practiceKey, userKey, setName: form.setName, tests };
    const notice = isGone ? setIsGone : await changeOwnChoices(tx, change, addition);
    const codes = removedBy(action, before, chosen);
    const undo = codes.length === 0 ? {} : undoOf({ kind: 'tests', codes });
    const draft = { ...chosen, notice: { ...chosen.notice, ...undo, ...notice } };
    await storeDraft(tx, place, { draft, now });
    return { draft, action };
  });
}

const setIsGone: Notice = { practiceSet: { outcome: 'gone', name: '' } };

/**
 * Returns the action of a button, with the tests or the order set to which it refers. If the request or the
 * order set is not found, returns `update`, so that only the other changes of the form are stored.
 */
async function actionOf(
  tx: OrderingTransaction,
  form: ChoiceForm & { readonly names: NameIndex },
  { practiceKey, before, choosing }: { practiceKey: string; before: Draft; choosing: Choosing },
): Promise<ChoiceAction> {
  const { button } = form;
  const { catalogue, patient } = choosing;
  if (button.kind === 'use') {
    const draft = applyChoice(before, { ...form, action: { kind: 'update' } }, catalogue);
    const { orderReference } = button;
    return { ...button, codes: await servedBy(tx, choosing, { draft, orderReference }) };
  }
  if (button.kind === 'again') {
    const earlier = await getEarlierOrder(tx, choosing, button.guid);
    if (earlier === undefined) return { kind: 'update' };
    const day = localDay(Date.parse(earlier.createdAt), choosing.timeZone);
    return { kind: 'again', day, ...(await repeatOrder(tx, choosing, earlier)) };
  }
  if (button.kind === 'undo') {
    const { undo } = before.notice ?? {};
    return undo?.id === button.id ? { kind: 'undo', removed: undo.removed } : { kind: 'undo' };
  }
  if (button.kind === 'review') return reviewOf(before, form, { catalogue, names: form.names });
  if (button.kind !== 'add-set') return button;
  const offered = catalogue.orderSets.get(button.id);
  if (offered !== undefined) return addSet(offered, patient);
  const { sets } = await findPracticeChoices(tx, practiceKey);
  const own = sets.find(({ id }) => id === button.id);
  return own === undefined ? { kind: 'update' } : addSet(orderSetOf(own, catalogue), patient);
}

function addSet(offered: OrderSet, patient: PatientTraits): ChoiceAction {
  const set = setFor(offered, patient);
  const leftOut = offered.tests.filter((test) => !set.tests.includes(test)).map(({ code }) => code);
  return { kind: 'add-set', set, leftOut };
}

type OwnChange = {
  readonly action: ChoiceAction;
  readonly practiceKey: string;
  readonly userKey: string;
  readonly setName: string;
  readonly tests: readonly string[];
};

/** Handles a button for favourites or order sets. Returns the notice for the page, if there is a notice. */
async function changeOwnChoices(
  tx: OrderingTransaction,
  change: OwnChange,
  addition: Addition,
): Promise<Notice | undefined> {
  const { action, practiceKey, userKey } = change;
  switch (action.kind) {
    case 'favourite': {
      const done = await addPersonalFavourite(tx, { userKey, code: action.code, at: addition.at });
      return done === 'full' ? { favourites: 'full' } : undefined;
    }
    case 'unfavourite': {
      const isRemoved = await deletePersonalFavourite(tx, userKey, action.code);
      return isRemoved ? undoOf({ kind: 'favourite', code: action.code }) : undefined;
    }
    case 'add-practice-favourites':
      return { favourites: await sharePracticeFavourites(tx, change, addition) };
    case 'remove-practice-favourite': {
      const isRemoved = await deleteFavourite(tx, practiceKey, action.code);
      return isRemoved ? undoOf({ kind: 'practice-favourite', code: action.code }) : undefined;
    }
    case 'save-set':
      return { practiceSet: await saveSet(tx, change, addition) };
    case 'delete-set': {
      const set = await deletePracticeSet(tx, practiceKey, action.id);
      if (set === undefined) return setIsGone;
      return {
        practiceSet: { outcome: 'deleted', name: set.name },
        ...undoOf({ kind: 'practice-set', set }),
      };
    }
    case 'undo':
      return action.removed === undefined
        ? { undone: 'late' }
        : bringBack(tx, action.removed, change, addition);
    default:
      return undefined;
  }
}

const undoOf = (removed: Removed): Notice => ({ undo: { id: randomUUID(), removed } });

/** Undoes the last removal, unless the number of favourites or sets is at its limit or the name is taken. */
async function bringBack(
  tx: OrderingTransaction,
  removed: Removed,
  { practiceKey, userKey }: OwnChange,
  addition: Addition,
): Promise<Notice> {
  switch (removed.kind) {
    case 'tests':
      return { undone: 'done' };
    case 'favourite': {
      const { code } = removed;
      const done = await addPersonalFavourite(tx, { userKey, code, at: addition.at });
      return done === 'full' ? { favourites: 'full' } : { undone: 'done' };
    }
    case 'practice-favourite': {
      const done = await addFavourite(tx, { practiceKey, code: removed.code }, addition);
      return done === 'full' ? { favourites: 'full' } : { undone: 'done' };
    }
    case 'practice-set': {
      const { addedBy: by, addedAt: at, ...set } = removed.set;
      const outcome = await savePracticeSet(tx, { practiceKey, ...set }, { by, at });
      return { practiceSet: { outcome, name: set.name } };
    }
  }
}

async function sharePracticeFavourites(
  tx: OrderingTransaction,
  { practiceKey, tests }: OwnChange,
  addition: Addition,
): Promise<FavouritesOutcome> {
  if (tests.length === 0) return 'empty';
  for (const code of tests) {
    if ((await addFavourite(tx, { practiceKey, code }, addition)) === 'full') return 'full';
  }
  return 'shared';
}

async function saveSet(
  tx: OrderingTransaction,
  { practiceKey, setName, tests }: OwnChange,
  addition: Addition,
): Promise<NonNullable<Notice['practiceSet']>> {
  const name = beginningOf(cleanText(setName).replace(/\s+/g, ' '), maxSetNameLength).trim();
  if (tests.length === 0) return { outcome: 'empty', name };
  if (name === '') return { outcome: 'unnamed', name };
  return { outcome: await savePracticeSet(tx, { practiceKey, name, tests }, addition), name };
}
