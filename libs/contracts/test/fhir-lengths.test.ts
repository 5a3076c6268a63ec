import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { describe, expect, it } from '@jest/globals';
import { faultsOf, read } from './fhir-reading.ts';

/** A payload that contains every element listed below. */
const full = aServiceRequest({ request: { id: 'request' } });

const names = ['contained[0].name[0]', 'contained[1].name[0]', 'contained[3].name[0]'];

/** Path and maximum number of characters of each text in the payload (OLTR: Limits). */
const limits: readonly (readonly [string, number])[] = [
  ...names.map((name) => [`${name}.prefix[0]`, 35] as const),
  ...names.map((name) => [`${name}.family`, 70] as const),
  ['contained[1].name[1].family', 35],
  ['contained[1].address[0].line[0]', 70],
  ['contained[1].address[0].postalCode', 10],
  ['contained[1].telecom[0].value', 1024],
  ['contained[0].identifier[0].value', 1024],
  ['contained[1].identifier[0].value', 1024],
  ['contained[3].identifier[0].value', 1024],
  ['contained[4].identifier[0].value', 1024],
  ['contained[4].name', 1024],
  ['identifier[0].value', 1024],
];

/** Paths of the texts that must not be blank and must be valid in XML. */
const texts = [...limits.map(([path]) => path), ...names.map((name) => `${name}.given[0]`)];

describe.each(limits)('%s', (path, limit) => {
  it(`may have ${limit} characters`, () => {
    expect(faultsOf(replaceAt(full, path, 'x'.repeat(limit)))).toEqual([]);
  });

  it(`may have ${limit} characters outside the Basic Multilingual Plane`, () => {
    expect(faultsOf(replaceAt(full, path, '\u{20bb7}'.repeat(limit)))).toEqual([]);
  });

  it.each(['x', '\u{20bb7}'])(`must not have ${limit + 1} characters, each of them %s`, (character) => {
    expect(faultsOf(replaceAt(full, path, character.repeat(limit + 1)))).toEqual([
      { path, message: `must have at most ${limit} characters` },
    ]);
  });
});

describe.each(texts)('%s', (path) => {
  it.each(['', ' ', '\t\r\n', '\u{a0}', '\u{200b}\u{2060}', '\u{3000}', '\u{feff}'])(
    'must not be blank: %j',
    (blank) => {
      expect(faultsOf(replaceAt(full, path, blank))).toEqual([
        { path, message: 'must not be empty or blank' },
      ]);
    },
  );

  it.each(['a\0', '\u{1}', 'a\u{1b}b', '\ud800', 'a\udc00b', '\u{fffe}', 'a\u{ffff}'])(
    'must not contain characters that XML 1.0 forbids: %j',
    (text) => {
      expect(faultsOf(replaceAt(full, path, text))).toEqual([
        { path, message: 'must contain only characters that are allowed in XML 1.0' },
      ]);
    },
  );

  it.each(['Mar\tgaret', 'two\nlines', 'two\r\nlines', 'a\u{85}b', 'a\u{2028}b', 'a\u{2029}b', 'end\n'])(
    'must not contain line breaks or tabs: %j',
    (text) => {
      expect(faultsOf(replaceAt(full, path, text))).toEqual([
        { path, message: 'must be one line, without tabs' },
      ]);
    },
  );

  it.each<Json>([null, 7, true, [], {}, ['text']])('must be text, not %j', (other) => {
    const message = expect.stringMatching(/^must be of type string(, or null beside an entry of _\w+)?$/);
    expect(faultsOf(replaceAt(full, path, other))).toEqual([{ path, message }]);
  });
});

it('the given names of an old name do not count, because only its family name is used', () => {
  const given = ['x'.repeat(70), 'y'.repeat(70)];
  expect(faultsOf(replaceAt(full, 'contained[1].name[1].given', given))).toEqual([]);
});

describe.each([
  ...names.flatMap((name) => [`${name}.prefix`, `${name}.given`]),
  'contained[1].address[0].line',
])('null in %s', (path) => {
  const beside = path.replace(/(\w+)$/, '_$1');
  const absent = { extension: [{ url: 'urn:example:reason', valueCode: 'masked' }] };
  const withPlaceholders = (list: Json, placeholders: Json) =>
    replaceAt(replaceAt(full, path, list), beside, placeholders);

  it('is ignored beside an entry of the list whose name begins with _', () => {
    const payload = withPlaceholders([null, 'Harbour'], [absent, null]);
    expect(faultsOf(payload)).toEqual([]);
    expect(read(payload)).toEqual(read(replaceAt(full, path, ['Harbour'])));
    expect(faultsOf(withPlaceholders(['Harbour'], [absent]))).toEqual([]);
  });

  it.each<Json>([null, [], [null, absent], [null], 'text'])('is refused beside %j', (placeholders) => {
    expect(faultsOf(withPlaceholders([null, 'Harbour'], placeholders))).toMatchObject([
      { path: `${path}[0]` },
    ]);
  });
});

describe('a name of a person or an organisation', () => {
  const named = [
    ...names.flatMap((name) => [`${name}.prefix[0]`, `${name}.family`, `${name}.given[0]`]),
    'contained[1].name[1].family',
    'contained[4].name',
    'contained[5].name',
  ];

  it.each(named)('must not contain the traces of a wrong encoding: %s', (path) => {
    for (const text of ['O\u{92}Brien', 'Si\u{fffd}n', '\u{80}x', 'x\u{9f}'])
      expect(faultsOf(replaceAt(full, path, text))).toEqual([
        { path, message: expect.stringMatching(/ wrong encoding\. Send it as UTF-8$/) },
      ]);
    for (const text of ['O’Brien', 'Siân', '\u{a0}x', '\u{fffc}'])
      expect(faultsOf(replaceAt(full, path, text))).toEqual([]);
  });
});

describe.each(names)('the given names of %s', (name) => {
  const path = `${name}.given`;
  const allowed: Json[][] = [
    ['x'.repeat(35)],
    ['x'.repeat(20), 'y'.repeat(15)],
    ['\u{20bb7}'.repeat(34), 'y'],
  ];
  const refused: Json[][] = [
    ['x'.repeat(36)],
    ['x'.repeat(20), 'y'.repeat(16)],
    ['\u{20bb7}'.repeat(35), 'y'],
  ];

  it.each(allowed.map((given) => [given]))('may have 35 characters in total: %j', (given) => {
    expect(faultsOf(replaceAt(full, path, given))).toEqual([]);
  });

  it.each(refused.map((given) => [given]))('must not have 36 characters in total: %j', (given) => {
    expect(faultsOf(replaceAt(full, path, given))).toEqual([
      { path, message: 'must have at most 35 characters in total' },
    ]);
  });

  it('cause an error about the total length only if no single name is too long', () => {
    const message = 'must have at most 70 characters';
    expect(faultsOf(replaceAt(full, path, ['x'.repeat(71)]))).toEqual([{ path: `${path}[0]`, message }]);
    expect(faultsOf(replaceAt(full, path, ['x'.repeat(70)]))).toEqual([
      { path, message: 'must have at most 35 characters in total' },
    ]);
  });
});

describe('an id', () => {
  const message = 'must be 1 to 64 letters, digits, hyphens or full stops';

  it.each(['a', 'x'.repeat(64), 'A-z.09', '--'])('may be %s', (id) => {
    expect(faultsOf(replaceAt(full, 'id', id))).toEqual([]);
    const renamed = replaceAt(replaceAt(full, 'contained[1].id', id), 'subject.reference', `#${id}`);
    expect(faultsOf(renamed)).toEqual([]);
  });

  it.each(['', 'x'.repeat(65), 'a b', 'a_b', 'é', 'a\n', '#a'])('must not be %j', (id) => {
    expect(faultsOf(replaceAt(full, 'id', id))).toEqual([{ path: 'id', message }]);
    expect(faultsOf(replaceAt(full, 'contained[1].id', id))).toContainEqual({
      path: 'contained[1].id',
      message,
    });
  });

  it('may be absent from the ServiceRequest', () => {
    expect(faultsOf(replaceAt(full, 'id', undefined))).toEqual([]);
  });
});

describe('an old name of a practitioner', () => {
  it('may have at most 35 characters, while a name with another use may have 70', () => {
    const named = (use: string, length: number) =>
      faultsOf(
        aServiceRequest({
          clinician: {
            name: [
              { use: 'usual', family: 'Bairstow' },
              { use, family: 'x'.repeat(length) },
            ],
          },
        }),
      );
    const fault = (limit: number) => [
      { path: 'contained[3].name[1].family', message: `must have at most ${limit} characters` },
    ];
    expect(named('old', 35)).toEqual([]);
    expect(named('old', 36)).toEqual(fault(35));
    expect(named('maiden', 70)).toEqual([]);
    expect(named('maiden', 71)).toEqual(fault(70));
  });
});

describe('an old name of a patient', () => {
  it('may have at most 35 characters, whether it is first or second in the list', () => {
    const old = { use: 'old', family: 'x'.repeat(36) };
    const usual = { use: 'usual', family: 'x'.repeat(70) };
    expect(faultsOf(aServiceRequest({ patient: { name: [old, usual] } }))).toEqual([
      { path: 'contained[1].name[0].family', message: 'must have at most 35 characters' },
    ]);
  });
});

describe.each(['identifier', 'contained[3].identifier', 'contained[4].identifier'])(
  'the system of %s',
  (path) => {
    const faultsWith = (system: string) => faultsOf(replaceAt(full, `${path}[1]`, { system, value: 'x' }));

    it('must not be blank or exceed 1,024 characters, even if the identifier is ignored', () => {
      const at = `${path}[1].system`;
      expect(faultsWith('x'.repeat(1024))).toEqual([]);
      expect(faultsWith('x'.repeat(1025))).toEqual([
        { path: at, message: 'must have at most 1024 characters' },
      ]);
      expect(faultsWith(' ')).toEqual([{ path: at, message: 'must not be empty or blank' }]);
    });
  },
);
