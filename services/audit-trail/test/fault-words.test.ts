import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { authorizeRefusals } from '@clinical-launch/contracts/refusals/authorize';
import { refusalCodes } from '@clinical-launch/contracts/refusals/codes';
import { tokenRefusals } from '@clinical-launch/contracts/refusals/token';
import { describe, expect, it } from '@jest/globals';
import { typeWords } from '../src/domain/event-words.ts';
import { faultWordsOf } from '../src/domain/fault-words.ts';

const reasons = [...refusalCodes, ...Object.keys(tokenRefusals), ...Object.keys(authorizeRefusals)];

describe('explanations on the pages', () => {
  it.each([...new Set(reasons)])('explain %s in one sentence, and the next step in another', (reason) => {
    const sentences = Object.values(faultWordsOf(reason) ?? {});
    expect(sentences).toHaveLength(2);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z][^]*[.]$/);
  });

  it('describe every type of event', () => {
    expect(Object.keys(eventCatalogue).filter((type) => typeWords(type) === type)).toEqual([]);
  });
});
