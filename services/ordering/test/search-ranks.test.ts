import { describe, expect, it } from '@jest/globals';
import type { PatientTraits } from '../src/domain/applies-to.ts';
import { offeredTests } from '../src/domain/offered-tests.ts';
import { createTestSearch } from '../src/domain/test-search.ts';
import { readCatalogue } from '../src/index.ts';

const catalogue = readCatalogue();
const search = createTestSearch(catalogue);
const woman: PatientTraits = { gender: 'female', age: 30 };
const man: PatientTraits = { gender: 'male', age: 77 };
const offered = (query: string, patient = woman) => offeredTests({ catalogue, query, patient, search });
const best = (query: string, patient = woman) => offered(query, patient).best.join(' ');

describe('the best match', () => {
  it.each([
    // Abbreviations
    ['fbc', 'HFBC'],
    ['u&e', 'BUE'],
    ['ue', 'BUE'],
    ['LFTs', 'BLFT'],
    ['tft', 'ETFT'],
    ['crp', 'BCRP'],
    ['esr', 'HESR'],
    ['inr', 'CINR'],
    ['msu', 'KMSU'],
    ['psa', 'MPSA'],
    ['cxr', 'XCXR'],
    ['fit', 'KFIT'],
    ['ana', 'IANA'],
    ['hb', 'HFBC'],
    ['tsh', 'ETFT'],
    // Names and their beginnings
    ['hba1c', 'DHBA1C'],
    ['ferritin', 'HFER'],
    ['haematinics', 'HHAEM'],
    ['bone', 'BBONE'],
    ['liver', 'BLFT'],
    ['thyroid', 'ETFT'],
    ['glucose', 'DGLUF'],
    ['vitamin d', 'BVITD'],
    ['vit d', 'BVITD'],
    ['urine', 'KMSU'],
    ['coeliac', 'ITTG'],
    ['chest', 'XCXR'],
    ['mri', 'RMHD'],
    ['knee', 'XKNE'],
    // Words within names
    ['knee mri', 'RMKN'],
    ['ct chest', 'TCCH'],
    ['thyroid us', 'UTHY'],
    ['fasting glucose', 'DGLUF'],
    // Synonyms
    ['b12', 'HB12'],
    ['creatinine', 'BUE'],
    ['kidney function', 'BUE'],
    ['renal', 'BUE'],
    ['calcium', 'BBONE'],
    ['cholesterol', 'BLIP'],
    ['warfarin', 'CINR'],
    ['hip', 'XPEL'],
    ['neck', 'XCSP'],
    ['smear', 'HFILM'],
    ['diabetes', 'DHBA1C'],
    ['pregnancy test', 'EHCG'],
    ['hep b', 'VHEPB'],
    // Typing errors
    ['feritin', 'HFER'],
    ['thyriod', 'ETFT'],
    ['fcb', 'HFBC'],
    ['colesterol', 'BLIP'],
    // Several tests
    ['fbc u&e', 'HFBC BUE'],
    ['fbc u&e lft', 'HFBC BUE BLFT'],
    ['u&e/lft', 'BUE BLFT'],
    ['fbc, crp, hba1c', 'HFBC BCRP DHBA1C'],
    ['b12 ferritin', 'HB12 HFER'],
    ['b12 folate ferritin', 'HHAEM'],
    ['ue bone', 'BUE BBONE'],
    ['knee xray fbc', 'XKNE HFBC'],
    ['fbc feritin', 'HFBC HFER'],
    ['fbc fbc', 'HFBC'],
  ])('for “%s” is %s', (query, codes) => {
    expect(best(query)).toBe(codes);
    expect([...offered(query).codes].slice(0, codes.split(' ').length).join(' ')).toBe(codes);
  });

  it('is no test for the name of a group, which counts only when nothing else matches', () => {
    expect(offered('haematology').best).toEqual([]);
    expect(offered('haematology').codes).toContain('HESR');
    expect([...offered('ultrasound').codes]).not.toContain('XCXR');
    expect([...offered('bone').codes]).toEqual(['BBONE', 'DEXA', 'BALP', 'BPROF']);
  });

  it('is nothing for another abbreviation, for words without meaning and for no words', () => {
    for (const query of ['hcx', 'qqqqqq', 'fbc qqqqqq', '', '  ', '&'])
      expect(offered(query).best).toEqual([]);
  });

  it('is a test for the patient, before one that is for others', () => {
    expect(best('ct/ng')).toBe('VCTNG');
    expect(best('ct/ng', man)).toBe('VCTNU');
    expect(best('fbc psa', man)).toBe('HFBC MPSA');
    expect(best('fbc psa')).toBe('HFBC MPSA');
    expect(offered('prostat').best).toEqual([]);
  });
});
