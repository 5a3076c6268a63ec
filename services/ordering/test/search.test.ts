import { describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import { createTestSearch } from '../src/domain/test-search.ts';

const search = createTestSearch(readCatalogue());
const found = (query: string) => search.find(query).flatMap(({ codes }) => codes);

describe('the search for tests', () => {
  it.each([
    ['abbreviations', 'FBC', 'HFBC'],
    ['abbreviations in any case', 'tft', 'ETFT'],
    ['abbreviations in the plural', 'LFTs', 'BLFT'],
    ['an ampersand', 'U&E', 'BUE'],
    ['an ampersand with spaces', 'u & e', 'BUE'],
    ['no ampersand', 'ue', 'BUE'],
    ['an ampersand in the plural', 'U&Es', 'BUE'],
    ['initials with "and"', 'u and e', 'BUE'],
    ['HbA1c in one word', 'hba1c', 'DHBA1C'],
    ['HbA1c in two words', 'Hb A1c', 'DHBA1C'],
    ['accents', 'ÉSR', 'HESR'],
    ['ligatures', 'hæmoglobinopathy', 'HHBO'],
    ['American spelling', 'hemoglobinopathy', 'HHBO'],
    ['American spelling', 'estradiol', 'EOEST'],
    ['synonyms', 'cholesterol', 'BLIP'],
    ['synonyms', 'chickenpox', 'VVZV'],
    ['unfinished words', 'haem', 'HHBO'],
    ['the first letters of a diphthong', 'ha', 'HHBO'],
    ['words in another order', 'xray chest', 'XCXR'],
    ['hyphens', 'chest x-ray', 'XCXR'],
    ['a space for a hyphen', 'chest x ray', 'XCXR'],
    ['the middle of a word', 'munoglob', 'IIGS'],
    ['swapped letters', 'thyriod', 'ETFT'],
    ['swapped letters in an abbreviation', 'fcb', 'HFBC'],
    ['the first two letters swapped', 'bfc', 'HFBC'],
    ['a missing letter', 'feritin', 'HFER'],
    ['a doubled letter', 'glucosse', 'DGLUF'],
    ['a wrong letter', 'vitamim d', 'BVITD'],
    ['two typing errors in a long word', 'imunoglobulns', 'IIGS'],
    ['the code of the catalogue', 'KMSU', 'KMSU'],
    ['a group', 'ultrasound', 'UABD'],
    ['a panel by the name of a part', 'ferritin', 'HHAEM'],
    ['a panel by the abbreviation of a part', 'U&E', 'BPROF'],
    ['a panel by a synonym of a part', 'estradiol', 'EFERT'],
    ['a panel by a misspelt part', 'feritin', 'HHAEM'],
    ['American spelling of a whole word', 'hemoglobin', 'HFBC'],
    ['American spelling of a synonym', 'hematinics', 'HHAEM'],
  ])('finds the test for a query with %s: %s', (_case, query, code) => {
    expect(found(query)).toContain(code);
  });

  it('returns only the tests that the query names, without similar names', () => {
    expect(found('FBC')).toEqual(['HFBC']);
    expect(found('PSA')).toEqual(['MPSA']);
    expect(found('hep a')).toEqual(['VHEPA', 'VHAIG']);
    expect(found('vitamin d')).toEqual(['BVITD']);
  });

  it('finds no test for a short query with two typing errors', () => {
    for (const query of ['fxy', 'tfxy', 'bxy', 'uqw']) expect(found(query)).toEqual([]);
  });

  it('returns every test for an empty query, and no test if the query has an unknown word', () => {
    expect(found('')).toHaveLength(readCatalogue().orderables.size);
    expect(found('   ')).toHaveLength(readCatalogue().orderables.size);
    expect(found('qqqqqq')).toEqual([]);
    expect(found('&&&')).toEqual([]);
    expect(found('fbc qqqqqq')).toEqual([]);
  });
});
