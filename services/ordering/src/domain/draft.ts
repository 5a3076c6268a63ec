import type { Catalogue, Orderable, OrderSet } from './catalogue.ts';

/** What is chosen in a launch before it is submitted. */
export type Draft = {
  /** The GUID that the order will have, so that however often it is submitted there is one. */
  readonly orderGuid: string;
  /** Rises whenever other tests are chosen: what was reviewed can be told from what is chosen now. */
  readonly version: number;
  /** Codes of the chosen tests, in the order of the catalogue. */
  readonly chosen: readonly string[];
  readonly search: string;
  readonly clinicalDetails: string;
  /** The order set that was added by the last step, if it was one. */
  readonly addedSet?: string;
};

/** What a button of the page that chooses tests asks for. */
export type ChoiceAction =
  | { readonly kind: 'update' | 'search' | 'clear-search' | 'review' }
  | { readonly kind: 'add-set'; readonly set: OrderSet }
  | { readonly kind: 'remove'; readonly code: string };

export type Choice = {
  readonly action: ChoiceAction;
  /** The boxes that are ticked. */
  readonly ticked: readonly string[];
  /** The boxes that were ticked when the page was made; what was chosen elsewhere since is in neither list. */
  readonly was: readonly string[];
  /** The words in the search box; absent when the form has none. */
  readonly search?: string;
};

/** The longest search that is looked at. */
export const maxSearchLength = 100;
/** The longest clinical details that are kept with an order. */
export const maxClinicalDetailsLength = 2000;

const actionForm = /^(update|search|clear-search|review)$|^(add-set|remove):([A-Za-z0-9-]{1,40})$/;

/** Reads the value of a button: `search`, `add-set:pre-op`, `remove:HFBC`. Undefined when it is none of ours. */
export function readChoiceAction(value: string, catalogue: Catalogue): ChoiceAction | undefined {
  const [, plain, verb, target = ''] = actionForm.exec(value) ?? [];
  switch (plain) {
    case 'update':
    case 'search':
    case 'clear-search':
    case 'review':
      return { kind: plain };
    default:
  }
  if (verb === 'remove') return { kind: 'remove', code: target };
  const set = catalogue.orderSets.get(target);
  return verb === 'add-set' && set !== undefined ? { kind: 'add-set', set } : undefined;
}

/**
 * What is chosen after a form was posted. The form tells what its user changed, not what is chosen in all: a box
 * that a search left out, or a test that was chosen in another window since, stays as it is.
 */
export function applyChoice(draft: Draft, choice: Choice, catalogue: Catalogue): Draft {
  const { action, ticked, was, search = draft.search } = choice;
  const chosen = new Set(draft.chosen);
  for (const code of was) if (!ticked.includes(code)) chosen.delete(code);
  for (const code of ticked) if (!was.includes(code)) chosen.add(code);
  if (action.kind === 'remove') chosen.delete(action.code);
  if (action.kind === 'add-set') for (const { code } of action.set.tests) chosen.add(code);

  const codes = [...catalogue.orderables.keys()].filter((code) => chosen.has(code));
  const { addedSet: _, ...rest } = draft;
  return {
    ...rest,
    chosen: codes,
    version: isSameList(codes, draft.chosen) ? draft.version : draft.version + 1,
    search: action.kind === 'clear-search' ? '' : withoutControls(search).trim().slice(0, maxSearchLength),
    ...(action.kind === 'add-set' ? { addedSet: action.set.id } : {}),
  };
}

/** Text as a person typed it: line ends as LF, no characters that neither a database nor a page can carry. */
export function cleanText(text: string): string {
  return withoutControls(text.replace(/\r\n?/g, '\n')).trim();
}

/** The chosen tests; one that the catalogue no longer has is not among them. */
export function chosenTests({ chosen }: Pick<Draft, 'chosen'>, catalogue: Catalogue): Orderable[] {
  return chosen.flatMap((code) => catalogue.orderables.get(code) ?? []);
}

const withoutControls = (text: string) => text.replace(/[^\P{Cc}\n\t]|[\uFFFE\uFFFF]/gu, '');

const isSameList = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((code, index) => code === other[index]);
