import type { WriteTime } from '@clinical-launch/contracts/time';
import type { Catalogue } from '../domain/catalogue.ts';
import { chosenTests, type OfferedDraft } from '../domain/draft.ts';
import { listed } from '../domain/panels.ts';

/** The maximum number of tests that an offer names. The offer states only the number of further tests. */
const namedTests = 6;

/** Presents the offer to continue the draft of an earlier launch. */
export function presentOffer({ draft, changedAt }: OfferedDraft, catalogue: Catalogue, write: WriteTime) {
  const names = chosenTests(draft, catalogue).map(({ name }) => name);
  const more = names.length - namedTests;
  const others = more > 0 ? [`${more} more ${more === 1 ? 'test' : 'tests'}`] : [];
  return {
    changedAt,
    writtenAt: write(changedAt),
    content:
      names.length === 0 ? 'clinical details only' : listed([...names.slice(0, namedTests), ...others]),
  };
}
