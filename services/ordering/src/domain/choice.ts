import { guidPattern } from '@clinical-launch/contracts/schema';
import { type NameIndex, namedTests } from '../../public/named-tests.js';
import type { Catalogue, OrderSet } from './catalogue.ts';
import {
  beginningOf,
  type Draft,
  inCatalogueOrder,
  type Notice,
  type Removed,
  type TypedTests,
  withoutControls,
} from './draft.ts';
import type { OrderAgain } from './order-again.ts';
import { withoutCovered } from './panels.ts';

/** The action of a button on the page for choosing tests. */
export type ChoiceButton =
  | {
      readonly kind:
        | 'update'
        | 'search'
        | 'clear-search'
        | 'clear'
        /** Removes every test, and shows the page that cancels the request. */
        | 'cancel'
        | 'save-set'
        | 'add-practice-favourites';
    }
  | { readonly kind: 'review' }
  /** Restores the tests, favourite or order set that the last step removed. */
  | { readonly kind: 'undo'; readonly id: string }
  | { readonly kind: CodeVerb; readonly code: string }
  /** Removes the tests that an earlier request already contains. */
  | { readonly kind: 'use'; readonly orderReference: string }
  | { readonly kind: 'delete-set'; readonly id: string }
  /** Chooses the tests of an earlier request of the patient. */
  | { readonly kind: 'again'; readonly guid: string }
  /** Adds an order set of the catalogue or of the practice. */
  | { readonly kind: 'add-set'; readonly id: string };

/** The action of a button on one test. `favourite` and `unfavourite` change the user's own favourites. */
type CodeVerb = 'add' | 'remove' | 'favourite' | 'unfavourite' | 'remove-practice-favourite';

/** The buttons that change the favourites or order sets of the practice. */
const practiceButtons: ReadonlySet<ChoiceButton['kind']> = new Set([
  'save-set',
  'delete-set',
  'add-practice-favourites',
  'remove-practice-favourite',
]);

/** Returns whether a button changes the favourites or order sets of the practice. */
export const changesPractice = ({ kind }: ChoiceButton) => practiceButtons.has(kind);

/** A button, with the tests or order set that it refers to. */
export type ChoiceAction =
  | Exclude<ChoiceButton, { readonly kind: 'add-set' | 'use' | 'again' | 'undo' | 'review' }>
  | {
      readonly kind: 'review';
      readonly typed?: TypedTests;
      /** Whether the page stays, because the user has not seen yet that the text adds no test. */
      readonly stays?: boolean;
    }
  | {
      readonly kind: 'undo';
      /** The removal to undo; absent if the user has taken another step since the removal. */
      readonly removed?: Removed;
    }
  | ({
      readonly kind: 'again';
      /** The local day of the earlier request, YYYY-MM-DD. */
      readonly day: string;
    } & OrderAgain)
  | {
      readonly kind: 'use';
      readonly orderReference: string;
      /** Codes of the chosen tests that the earlier request contains. */
      readonly codes: readonly string[];
    }
  | {
      readonly kind: 'add-set';
      /** Only the tests that apply to the patient. */
      readonly set: OrderSet;
      /** Codes of tests in the set that do not apply to the patient. */
      readonly leftOut: readonly string[];
    };

/** The form of the page for choosing tests. */
export type ChoiceForm = Omit<Choice, 'action'> & {
  readonly button: ChoiceButton;
  /** The name under which the chosen tests are saved. */
  readonly setName: string;
};

export type Choice = {
  readonly action: ChoiceAction;
  /** Codes of the ticked boxes. */
  readonly ticked: readonly string[];
  /**
   * Codes of the boxes that were ticked when the page was created. A test that another window has chosen
   * since then is in neither list.
   */
  readonly was: readonly string[];
  /** The text in the search box; absent if the form has no search box. */
  readonly search?: string;
};

export const maxSearchLength = 100;

const plainForm = /^(update|search|clear-search|clear|cancel|review|save-set|add-practice-favourites)$/;
const targetForm =
  /^(add|remove|favourite|unfavourite|remove-practice-favourite|add-set|delete-set|use|again|undo):([A-Za-z0-9-]{1,40})$/;

/** The format of the id of a request and of a practice's order set. */
const guid = new RegExp(guidPattern);

/**
 * Reads the value of a button: `search`, `add-set:pre-op`, `remove:HFBC`. Returns undefined for an unknown
 * value.
 */
export function readChoiceButton(
  value: string,
  { orderables, orderSets }: Pick<Catalogue, 'orderables' | 'orderSets'>,
): ChoiceButton | undefined {
  const [, plain] = plainForm.exec(value) ?? [];
  switch (plain) {
    case 'update':
    case 'search':
    case 'clear-search':
    case 'clear':
    case 'cancel':
    case 'review':
    case 'save-set':
    case 'add-practice-favourites':
      return { kind: plain };
    default:
  }
  const [, verb, target = ''] = targetForm.exec(value) ?? [];
  switch (verb) {
    case 'remove':
    case 'unfavourite':
    case 'remove-practice-favourite':
      return { kind: verb, code: target };
    case 'add':
    case 'favourite':
      return orderables.has(target) ? { kind: verb, code: target } : undefined;
    case 'use':
      return { kind: verb, orderReference: target };
    case 'again':
      return guid.test(target) ? { kind: verb, guid: target } : undefined;
    case 'delete-set':
    case 'undo':
      return { kind: verb, id: target };
    case 'add-set':
      return orderSets.has(target) || guid.test(target) ? { kind: verb, id: target } : undefined;
    default:
      return undefined;
  }
}

/**
 * Returns the draft after a posted form. Applies only the changes that the user made on the page. Tests that
 * a search hid, or that another window has chosen since the page was created, stay as they are. Always
 * removes tests that a chosen panel contains.
 */
export function applyChoice(draft: Draft, choice: Choice, catalogue: Catalogue): Draft {
  const { action, ticked, was, search = draft.search } = choice;
  const wanted = wantedCodes(draft, { action, ticked, was }, catalogue);
  const chosen = withoutCovered(wanted, catalogue);
  const { notice: _, ...rest } = draft;
  const takenOff = wanted.filter((code) => !chosen.includes(code));
  const text = beginningOf(withoutControls(search).trim(), maxSearchLength);
  const isDone = action.kind === 'clear-search' || (action.kind === 'review' && action.stays !== true);
  const isTicked = ['add', 'add-set'].includes(action.kind) || ticked.some((code) => !was.includes(code));
  const notice: Notice = {
    ...(action.kind === 'review' && action.typed ? { typed: action.typed } : {}),
    ...(action.kind === 'add-set' ? { addedSet: action.set.id, leftOut: action.leftOut } : {}),
    ...(action.kind === 'use' && action.codes.length > 0
      ? { used: { orderReference: action.orderReference, codes: action.codes } }
      : {}),
    ...(action.kind === 'again' ? againNotice(action) : {}),
    ...(takenOff.length === 0 ? {} : { takenOff }),
  };
  return {
    ...rest,
    chosen,
    version: isSameList(chosen, draft.chosen) ? draft.version : draft.version + 1,
    search: isDone ? '' : text,
    ...(isTicked ? { usedSearch: text } : {}),
    notice,
  };
}

/**
 * Decides what Review does with the text in the search box. If every part of the text names one test, adds the
 * tests that are not chosen yet. Drops text that names nothing more, and text whose matches the user has ticked.
 * For any other text, the page stays once.
 */
export function reviewOf(
  before: Draft,
  form: Omit<Choice, 'action'>,
  { catalogue, names }: { readonly catalogue: Catalogue; readonly names: NameIndex },
): ChoiceAction & { readonly kind: 'review' } {
  const draft = applyChoice(before, { ...form, action: { kind: 'update' } }, catalogue);
  const { search: text, chosen } = draft;
  // Ticks that come with Review belong to the search that the page has answered.
  const isUsed = text === (text === before.search ? draft : before).usedSearch;
  if (text === '' || isUsed) return { kind: 'review' };
  const { codes, unknown } = namedTests(text, names);
  if (codes.length > 0) {
    const added = withoutCovered([...chosen, ...codes], catalogue).filter((code) => !chosen.includes(code));
    return { kind: 'review', ...(added.length === 0 ? {} : { typed: { added } }) };
  }
  const { typed } = before.notice ?? {};
  const isSeen = typed !== undefined && 'notAdded' in typed && typed.notAdded === text;
  return { kind: 'review', typed: { notAdded: text, unknown }, stays: !isSeen };
}

const againNotice = ({
  day,
  tests,
  missing,
  leftOut,
  tooSoon,
}: ChoiceAction & { readonly kind: 'again' }): Notice => ({
  again: { day, codes: tests.map(({ code }) => code), tooSoon, missing },
  leftOut,
});

function wantedCodes(draft: Draft, { action, ticked, was }: Omit<Choice, 'search'>, catalogue: Catalogue) {
  const wanted = new Set(draft.chosen);
  for (const code of was) if (!ticked.includes(code)) wanted.delete(code);
  for (const code of ticked) if (!was.includes(code)) wanted.add(code);
  if (action.kind === 'remove') wanted.delete(action.code);
  if (action.kind === 'clear' || action.kind === 'cancel') wanted.clear();
  if (action.kind === 'use') for (const code of action.codes) wanted.delete(code);
  for (const code of addedBy(action)) wanted.add(code);
  // A test of the request that has left the catalogue has no box. It stays chosen until the user presses its
  // Remove button.
  const known = new Set([...catalogue.orderables.keys(), ...(draft.base?.chosen ?? [])]);
  return inCatalogueOrder(
    [...wanted].filter((code) => known.has(code)),
    catalogue,
  );
}

function addedBy(action: ChoiceAction): readonly string[] {
  switch (action.kind) {
    case 'add':
      return [action.code];
    case 'review':
      return action.typed !== undefined && 'added' in action.typed ? action.typed.added : [];
    case 'add-set':
      return action.set.tests.map(({ code }) => code);
    case 'again':
      return action.tests.map(({ code }) => code);
    case 'undo':
      return action.removed?.kind === 'tests' ? action.removed.codes : [];
    default:
      return [];
  }
}

/** Returns the codes of the tests that a button removed, so that the step can be undone. */
export function removedBy({ kind }: ChoiceAction, before: Draft, after: Draft): string[] {
  const isRemoving = kind === 'remove' || kind === 'clear' || kind === 'cancel' || kind === 'use';
  return isRemoving ? before.chosen.filter((code) => !after.chosen.includes(code)) : [];
}

const isSameList = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((code, index) => code === other[index]);
