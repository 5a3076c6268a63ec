import type { FileFault } from '@clinical-launch/contracts/fault';
import type { CatalogueFile } from './catalogue-schema.ts';

/** Returns the errors in a catalogue file that the schema and the check of references do not find. */
export const contentFaults = (file: CatalogueFile): FileFault[] => [
  ...idFaults(file),
  ...optionFaults(file.questions ?? []),
  ...limitFaults(file),
  ...panelFaults(file.orderables),
  ...sampleFaults(file),
  ...conceptFaults(file.orderables),
];

function idFaults({ id, performers = [] }: CatalogueFile): FileFault[] {
  if ((id === undefined) === (performers.length === 0)) return [];
  return [{ path: 'id', message: 'must be present with performers, and only then' }];
}

function optionFaults(questions: NonNullable<CatalogueFile['questions']>): FileFault[] {
  return questions.flatMap(({ kind, options }, index) =>
    (kind === 'choice') === (options === undefined)
      ? [{ path: `questions[${index}].options`, message: 'must be present for a choice, and only then' }]
      : [],
  );
}

/** Checks that `ageFrom` is never above `ageTo`, and that only date questions have members for dates. */
function limitFaults({ questions = [], orderables, orderSets }: CatalogueFile): FileFault[] {
  const ages = Object.entries({ questions, orderables, orderSets }).flatMap(([list, entries]) =>
    entries.flatMap(({ appliesTo: { ageFrom = 0, ageTo = 130 } = {} }, index) =>
      ageFrom <= ageTo
        ? []
        : [{ path: `${list}[${index}].appliesTo`, message: 'must not have ageFrom above ageTo' }],
    ),
  );
  const ofDates = (['withinWeeks', 'mustBeKnown'] as const).flatMap((member) =>
    questions.flatMap(({ kind, [member]: value }, index) =>
      kind === 'date' || value === undefined
        ? []
        : [{ path: `questions[${index}].${member}`, message: 'must be present only for a date' }],
    ),
  );
  return [...ages, ...ofDates];
}

/**
 * Checks that the samples of a test differ, and that `container` is absent with `samples`. A sample has
 * `site` or `siteQuestion`, not both. A site question must be required and asked per test.
 */
function sampleFaults({ orderables, questions = [] }: CatalogueFile): FileFault[] {
  const perTest = new Set(
    questions.flatMap(({ id, perTest: is, kind }) => (is && kind !== 'date' ? [id] : [])),
  );
  return orderables.flatMap(({ container, samples = [], asks = [] }, index) => {
    const path = `orderables[${index}].samples`;
    const required = asks.flatMap(({ question, isRequired }) => (isRequired ? [question] : []));
    const written = samples.map((sample) => keyOfSample(sample));
    return [
      ...(container !== undefined && samples.length > 0
        ? [{ path, message: 'must be absent with container' }]
        : []),
      ...samples.flatMap(({ site, siteQuestion }, at) => {
        const place = `${path}[${at}]`;
        if (written.indexOf(written[at] ?? '') !== at) return [{ path: place, message: 'is repeated' }];
        if (siteQuestion === undefined) return [];
        if (site !== undefined)
          return [{ path: `${place}.site`, message: 'must be absent with siteQuestion' }];
        return required.includes(siteQuestion) && perTest.has(siteQuestion)
          ? []
          : [
              {
                path: `${place}.siteQuestion`,
                message: 'must be a required question of the test that is asked per test',
              },
            ];
      }),
    ];
  });
}

function conceptFaults(orderables: CatalogueFile['orderables']): FileFault[] {
  return orderables.flatMap(({ snomed }, index) =>
    snomed === undefined || isConceptId(snomed)
      ? []
      : [{ path: `orderables[${index}].snomed`, message: 'must be a SNOMED CT concept id' }],
  );
}

type SampleEntry = NonNullable<CatalogueFile['orderables'][number]['samples']>[number];

const keyOfSample = ({ container, site = '', siteQuestion = '', timing = '' }: SampleEntry) =>
  JSON.stringify([container, site, siteQuestion, timing]);

/** Checks that a panel contains only single tests of the catalogue, because nested panels are ambiguous. */
function panelFaults(orderables: CatalogueFile['orderables']): FileFault[] {
  const single = new Set(orderables.flatMap(({ code, covers }) => (covers === undefined ? [code] : [])));
  return orderables.flatMap(({ covers = [] }, index) =>
    covers.flatMap((code, at) =>
      single.has(code)
        ? []
        : [
            {
              path: `orderables[${index}].covers[${at}]`,
              message: 'must be the code of a single test in this catalogue',
            },
          ],
    ),
  );
}

/** The multiplication table of the dihedral group D5. */
const product = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
  [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
  [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
  [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
  [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
  [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
  [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
  [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
  [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];
/** The permutation of a digit. The algorithm applies it once for each position. */
const permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/**
 * Returns whether a text is a valid concept id: 6 to 18 digits, the partition identifier of concepts, and a
 * Verhoeff check digit (SNOMED CT Release File Specification, SNOMED CT Identifiers).
 */
export function isConceptId(text: string): boolean {
  if (!/^[1-9]\d{5,17}$/.test(text) || !/(?:00|10)\d$/.test(text)) return false;
  const check = text
    .split('')
    .toReversed()
    .reduce((sum, digit, place) => {
      let permuted = Number(digit);
      for (let times = 0; times < place % 8; times += 1) permuted = permutation[permuted] ?? 0;
      return product[sum]?.[permuted] ?? -1;
    }, 0);
  return check === 0;
}
