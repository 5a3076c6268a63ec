import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { actions, type LaunchRequest } from '../src/launch-context.ts';
import { read } from './fhir-reading.ts';

const folder = new URL('../../testing/samples/', import.meta.url);
const samples = readdirSync(folder).filter((file) => file.endsWith('.json'));

function readSample(file: string): LaunchRequest {
  const reading = read(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
  if ('faults' in reading) throw new Error(JSON.stringify(reading.faults));
  return reading.request;
}

describe('the sample payloads', () => {
  it('are twelve files', () => expect(samples).toHaveLength(12));

  it.each(samples)('include %s, which the reader accepts', (file) => {
    expect(actions).toContain(readSample(file).action);
  });

  it.each(actions.map((action, index) => [action, index] as const))(
    'include a payload for the action %s',
    (action, index) => {
      expect(readSample(samples[index] ?? '').action).toBe(action);
    },
  );

  it('include a payload with every supported element', () => {
    expect(readSample('01-OrderTest.json')).toEqual({
      action: 'OrderTest',
      originatingId: 'HS-2023-100200',
      authoredOn: '2023-11-06T19:43:05Z',
      author: { username: 'a.okonkwo', name: { title: 'Dr', family: 'Okonkwo', given: ['Adaeze'] } },
      patient: {
        name: { title: 'Mrs', family: 'Whitfield', given: ['Margaret', 'Anne'] },
        previousFamilyName: 'Pemberton',
        birthDate: '1958-02-28',
        gender: 'female',
        address: { lines: ['Flat 3', '12 Harbour Lane', 'Whitby'], postalCode: 'YO21 3PU' },
        identifiers: [
          { system: 'nhs-number', value: '9434765919' },
          { system: 'hospital-number', value: 'WH-0042317' },
        ],
        telecom: [
          { system: 'phone', value: '01947 555 0142', use: 'home' },
          { system: 'phone', value: '07700 900461', use: 'mobile' },
          { system: 'email', value: 'margaret.whitfield@example.org' },
        ],
      },
      requester: {
        identifier: { system: 'professional-code', value: 'G8134567' },
        name: { title: 'Dr', family: 'Bairstow', given: ['Thomas'] },
      },
      practice: {
        identifier: { system: 'ods-organization-code', value: 'B82017' },
        name: 'Harbour Surgery',
      },
      performer: {
        identifier: { system: 'performing-org', value: 'RCB00' },
        name: 'North Coast Pathology',
      },
    });
  });

  it('include a payload with only the required elements', () => {
    expect(readSample('09-minimal.json').patient).toEqual({
      name: { family: 'Li', given: [] },
      birthDate: '2024-02-29',
      gender: 'unknown',
      address: { lines: [] },
      // An invented CHI number with an invalid check digit.
      identifiers: [{ system: 'chi-number', value: '2902240001', isDoubtful: true }],
      telecom: [],
    });
  });

  it('include a payload with unsupported elements, which the reader ignores', () => {
    const { originatingId, ...kept } = readSample('12-full-r4-extras.json');
    const { originatingId: other, ...expected } = readSample('01-OrderTest.json');
    expect(originatingId).not.toBe(other);
    expect(kept).toEqual(expected);
  });

  it('include a payload with names in many scripts, which the reader returns unchanged', () => {
    const { name, address } = readSample('11-names-of-the-world.json').patient;
    expect(name).toEqual({
      title: 'Prof. Dr',
      family: "Ó Súilleabháin-D'Ângelo & <Sons>",
      given: ['Zoë “Zee”', 'محمد', '\u{20bb7}野'],
    });
    expect(address.lines).toEqual(['Tŷ Gwyn, Ffordd yr Ŵyl', ']]> </textarea> &amp; "The Barn"']);
  });
});
