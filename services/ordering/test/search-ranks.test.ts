import { describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import type { PatientTraits } from '../src/domain/applies-to.ts';
import { offeredTests } from '../src/domain/offered-tests.ts';
import { createTestSearch } from '../src/domain/test-search.ts';

const catalogue = readCatalogue();
const search = createTestSearch(catalogue);
const woman: PatientTraits = { gender: 'female', age: 30 };
const man: PatientTraits = { gender: 'male', age: 77 };
const offered = (query: string, patient = woman) => offeredTests({ catalogue, query, patient, search });
/** Returns the codes of the matches of a query, best match first. */
const found = (query: string, patient = woman) => [...offered(query, patient).codes];
/** Returns the codes of the tests that Enter adds. */
const added = (query: string, patient = woman) => offered(query, patient).named.codes.join(' ');

describe('the Enter key in the search box', () => {
  it.each([
    // Names, abbreviations and codes
    ['fbc', 'HFBC'],
    ['full blood count', 'HFBC'],
    ['hfbc', 'HFBC'],
    ['u&e', 'BUE'],
    ['U & E', 'BUE'],
    ['u and e', 'BUE'],
    ['ue', 'BUE'],
    ['LFTs', 'BLFT'],
    ['ÉSR', 'HESR'],
    ['hb a1c', 'DHBA1C'],
    ['hemoglobin', 'HFBC'],
    ['chest x-ray', 'XCXR'],
    ['chest xray', 'XCXR'],
    ['cxr', 'XCXR'],
    ['mri knee', 'RMKN'],
    // Synonyms
    ['bone', 'BBONE'],
    ['lipids', 'BLIP'],
    ['vit d', 'BVITD'],
    ['renal', 'BUE'],
    ['creatinine', 'BUE'],
    ['TSH', 'ETFT'],
    ['fob', 'KFIT'],
    ['FOBT', 'KFIT'],
    ['plt', 'HFBC'],
    ['paul bunnell', 'HGLF'],
    ['skin scrapings', 'KMYC'],
    ['b12 folate ferritin', 'HHAEM'],
    ['dheas', 'EDHEA'],
    // Several tests
    ['fbc u&e', 'HFBC BUE'],
    ['fbc u&e lft', 'HFBC BUE BLFT'],
    ['u&e/lft', 'BUE BLFT'],
    ['fbc, crp, hba1c', 'HFBC BCRP DHBA1C'],
    ['b12 ferritin', 'HB12 HFER'],
    ['fbc fbc', 'HFBC'],
  ])('adds the tests that “%s” names: %s', (query, codes) => {
    expect(added(query)).toBe(codes);
    expect(found(query).slice(0, codes.split(' ').length).join(' ')).toBe(codes);
  });

  it.each([
    // Queries that added a test in an earlier release although they do not name a test
    'cervical smear',
    'blood culture',
    'ct',
    'x ray',
    'spine',
    'kidney',
    'vanc',
    'smear',
    'ferritni liver',
    // Parts of names, typing errors, groups and words in the names of panels
    'ferr',
    'liver',
    'chest',
    'knee',
    'feritin',
    'fcb',
    'haematology',
    'thyroid',
    'hepatitis',
    // Reasons for a test, and samples
    'chest pain',
    'menopause',
    'pregnancy test',
    'swab',
    'diabetes',
    // Synonyms of an examination, and an analyte (DHEA) that differs from a test (DHEAS) by one letter
    'chest radiograph',
    'dxa',
    'dhea',
    // Text without a known word
    'qqqqqq',
    '',
    '  ',
    '&',
  ])('adds nothing for “%s”', (query) => {
    expect([added(query), added(query, man)]).toEqual(['', '']);
  });

  it('adds no test for a name that several tests share, for any patient', () => {
    for (const patient of [woman, man]) {
      expect(added('ct/ng', patient)).toBe('');
      expect(found('ct/ng', patient)).toContain('VCTNU');
    }
    expect(added('vzv')).toBe('');
  });

  it('adds nothing if a part of the query names no test; the search then reports that part', () => {
    expect(offered('fbc qqq').named).toEqual({ codes: [], known: ['HFBC'], unknown: ['qqq'] });
    expect(found('fbc qqq')).toEqual(['HFBC']);
    expect(offered('fbc knee scan crp').named.unknown).toEqual(['knee scan']);
    expect(offered('fbc ct/ng').named.unknown).toEqual(['ct ng']);
  });

  it.each([
    ['hpv', 'Cervical screening'],
    ['Cervical smears', 'Cervical screening'],
    ['CTPA', 'CT pulmonary angiogram'],
    ['synacthen', 'Short Synacthen test'],
    ['vancomycin', 'Vancomycin or gentamicin level'],
    ['blood cultures', 'Blood culture'],
  ])('adds nothing for “%s”, which is requested elsewhere, and finds no similar name', (query, name) => {
    for (const patient of [woman, man]) {
      expect(offered(query, patient).elsewhere.map((entry) => entry.name)).toEqual([name]);
      expect([added(query, patient), found(query, patient)]).toEqual(['', []]);
    }
  });

  it('adds nothing if a part of the query is a test that is requested elsewhere; the search then reports that test', () => {
    expect(offered('fbc hpv').elsewhere.map(({ name }) => name)).toEqual(['Cervical screening']);
    expect(offered('fbc hpv').named).toEqual({ codes: [], known: ['HFBC'], unknown: ['hpv'] });
    expect(offered('cervical').elsewhere.map(({ name }) => name)).toEqual(['Cervical screening']);
    expect(found('cervical')[0]).toBe('XCSP');
    expect(offered('c').elsewhere).toEqual([]);
    expect(offered('fbc').elsewhere).toEqual([]);
  });

  it('adds a test that does not apply to the patient if the query is the full name of the test, which the search then ranks first', () => {
    expect(added('psa')).toBe('MPSA');
    expect(added('fbc psa', man)).toBe('HFBC MPSA');
    expect(found('psa')).toEqual(['MPSA']);
    expect(found('prostat')).toEqual([]);
    expect(found('ct/ng', man)[0]).toBe('VCTNU');
  });
});

describe('the first match of a search', () => {
  it.each([
    // Names and their beginnings
    ['haematinics', 'HHAEM'],
    ['liver', 'BLFT'],
    ['thyroid', 'ETFT'],
    ['glucose', 'DGLUF'],
    ['urine', 'KMSU'],
    ['chest', 'XCXR'],
    ['mri', 'RMHD'],
    ['knee', 'XKNE'],
    // Words within names
    ['knee mri', 'RMKN'],
    ['xray chest', 'XCXR'],
    ['thyroid us', 'UTHY'],
    // Reasons for a test, organs and samples
    ['warfarin', 'CINR'],
    ['neck', 'UTHY'],
    ['smear', 'HFILM'],
    ['diabetes', 'DHBA1C'],
    ['pregnancy test', 'KUPRG'],
    ['kidney', 'UREN'],
    // Typing errors
    ['feritin', 'HFER'],
    ['thyriod', 'ETFT'],
    ['fcb', 'HFBC'],
    ['colesterol', 'BLIP'],
  ])('for the query “%s” is the test %s', (query, code) => {
    expect(found(query)[0]).toBe(code);
  });

  it('is followed by tests with the word in their name or a synonym; a panel comes after its tests', () => {
    expect(found('bone')).toEqual(['BBONE', 'DEXA', 'BALP', 'BPROF']);
    expect(found('ferritin')).toEqual(['HFER', 'HHAEM']);
    expect(found('profile').indexOf('BPROF')).toBeGreaterThan(found('profile').indexOf('BBONE'));
    expect(found('haematinics')[0]).toBe('HHAEM');
  });

  it('is from the group that the query names, as are the other matches, if no test has a matching name', () => {
    const groupsIn = (query: string) =>
      new Set(found(query).map((code) => catalogue.orderables.get(code)?.group.name));
    expect([...groupsIn('haematology')]).toEqual(['Haematology']);
    expect([...groupsIn('ultrasound')]).toEqual(['Ultrasound']);
  });
});
