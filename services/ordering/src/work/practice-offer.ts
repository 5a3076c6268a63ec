import type { Catalogue, OrderSet } from '../domain/catalogue.ts';
import type { Choice, Offer } from '../domain/choice.ts';
import { beginningOf, chosenTests, cleanText, type Draft, type Notice } from '../domain/draft.ts';
import type { Visit } from '../http/visit.ts';
import { choicesKeyOf } from '../store/keys.ts';
import { maxSetNameLength, type PracticeChoices } from '../store/practice-choices.ts';

type OfferNeeds = { readonly catalogue: Catalogue; readonly practiceChoices: PracticeChoices };

export type PracticeOffer = Offer & {
  readonly favourites: ReadonlySet<string>;
  /** The order sets that this practice made. */
  readonly practiceSets: readonly OrderSet[];
};

/** What the visit's practice can choose from, of one catalogue. Tests that the catalogue no longer has are left out. */
export async function offerOf(
  { context }: Visit,
  { catalogue, practiceChoices }: OfferNeeds,
): Promise<PracticeOffer> {
  const { favourites, sets } = await practiceChoices.of(
    choicesKeyOf(context.request.practice, context.client, catalogue.id),
  );
  const practiceSets = sets.map(({ id, name, tests }) => ({
    id,
    name,
    tests: tests.flatMap((code) => catalogue.orderables.get(code) ?? []),
  }));
  const own = practiceSets.map((set): [string, OrderSet] => [set.id, set]);
  return {
    catalogue,
    favourites: new Set(favourites),
    practiceSets,
    orderSets: new Map([...catalogue.orderSets, ...own]),
  };
}

type Asked = { readonly action: Choice['action']; readonly setName: string; readonly draft: Draft };

/** Does what a button asks for the practice's own choices; what there is to say of it, if anything. */
export async function changePracticeChoices(
  { context }: Visit,
  { action, setName, draft }: Asked,
  { catalogue, practiceChoices }: OfferNeeds,
): Promise<Notice | undefined> {
  const practiceKey = choicesKeyOf(context.request.practice, context.client, catalogue.id);
  const by = context.request.author;
  switch (action.kind) {
    case 'favourite': {
      const done = await practiceChoices.addFavourite({ practiceKey, code: action.code, by });
      return done === 'full' ? { areFavouritesFull: true } : undefined;
    }
    case 'unfavourite':
      await practiceChoices.removeFavourite(practiceKey, action.code);
      return undefined;
    case 'save-set': {
      const name = beginningOf(cleanText(setName).replace(/\s+/g, ' '), maxSetNameLength).trim();
      const tests = chosenTests(draft, catalogue).map(({ code }) => code);
      if (tests.length === 0) return { practiceSet: { outcome: 'empty', name } };
      if (name === '') return { practiceSet: { outcome: 'unnamed', name } };
      return {
        practiceSet: { outcome: await practiceChoices.saveSet({ practiceKey, name, tests, by }), name },
      };
    }
    case 'delete-set': {
      const name = await practiceChoices.deleteSet(practiceKey, action.id);
      return { practiceSet: { outcome: name === undefined ? 'gone' : 'deleted', name: name ?? '' } };
    }
    default:
      return undefined;
  }
}
