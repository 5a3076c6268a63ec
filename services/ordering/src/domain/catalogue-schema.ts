import { performerCode } from '@clinical-launch/contracts/coded-identifiers';
import { closedObject } from '@clinical-launch/contracts/schema';
import { type Static, Type } from '@clinical-launch/contracts/type';

const text = Type.String({ minLength: 1, maxLength: 100 });
const id = Type.String({
  pattern: '^[A-Za-z0-9-]{1,40}$',
  description: 'must be letters, digits and dashes',
});
const code = Type.String({ pattern: '^[A-Z0-9]{1,20}$', description: 'must be capital letters and digits' });

/** The patients that an entry applies to (`AppliesTo`). */
const appliesTo = closedObject({
  sex: Type.Optional(Type.Enum(['female', 'male'])),
  ageFrom: Type.Optional(Type.Integer({ minimum: 0, maximum: 130 })),
  ageTo: Type.Optional(Type.Integer({ minimum: 0, maximum: 130 })),
});

/** A laboratory's question about the patient, asked once for all tests that need it. */
export const question = closedObject({
  id,
  text,
  hint: Type.Optional(text),
  /** `choice` needs options; `date` is a day; `text` is a line. */
  kind: Type.Enum(['choice', 'date', 'text']),
  options: Type.Optional(Type.Array(text, { minItems: 2 })),
  /** The topic, if a rule depends on it (`safetyFaults`). */
  topic: Type.Optional(Type.Enum(['pregnancy', 'side', 'mri-safety', 'contrast-allergy', 'kidney-function'])),
  /** Limits the question to these patients. */
  appliesTo: Type.Optional(appliesTo),
  /** Asks for each test, because the side of a knee says nothing about a shoulder. */
  perTest: Type.Optional(Type.Boolean()),
  /** How far back a date may be; no date may be in the future. */
  withinWeeks: Type.Optional(Type.Integer({ minimum: 1, maximum: 520 })),
});

/** A sample that a test needs. Tests share one only if container, site and timing are equal. */
const sample = closedObject({
  container: id,
  /** The site, if it is always the same: `Throat`. */
  site: Type.Optional(text),
  /** The question whose answer is the site. */
  siteQuestion: Type.Optional(id),
  /** When a timed sample is collected: `2 hours after glucose`. */
  timing: Type.Optional(text),
});

/** The schema of the catalogue file. Entries refer to each other by id. */
export const catalogueSchema = closedObject({
  /** Separates a practice's choices in this catalogue from those in others. Required with `performers`. */
  id: Type.Optional(id),
  /** The performers that offer these tests; without them, this is the default catalogue. */
  performers: Type.Optional(Type.Array(closedObject(performerCode), { minItems: 1 })),
  locations: Type.Array(
    closedObject({
      /** Also the prefix of its order references. */
      id: Type.String({ pattern: '^[A-Z]{2,5}$', description: 'must be two to five capital letters' }),
      name: text,
      code: closedObject({
        value: text,
        scheme: Type.Union([Type.Literal('NHSORGANISATIONS'), Type.Literal('LOCAL')]),
      }),
      /** The number to call about an urgent request. */
      telephone: Type.Optional(text),
      /** OrderCategory in the order document. */
      category: text,
    }),
    { minItems: 1 },
  ),
  containers: Type.Array(
    closedObject({
      id,
      name: text,
      closure: text,
      /** The colours of the stylesheet. */
      colour: Type.Enum([
        'black',
        'blue',
        'brown',
        'gold',
        'green',
        'grey',
        'navy',
        'orange',
        'pink',
        'purple',
        'red',
        'white',
        'yellow',
      ]),
      /** The order of draw; lower numbers come first, and blood before everything else. */
      drawOrder: Type.Integer({ minimum: 1 }),
      /** The laboratory accepts no printed label, as for transfusion: label by hand at the bedside. */
      isLabelledByHand: Type.Optional(Type.Boolean()),
    }),
  ),
  groups: Type.Array(closedObject({ id, name: text }), { minItems: 1 }),
  orderables: Type.Array(
    closedObject({
      code,
      /** The SNOMED CT concept id, if it is certain. The order document contains the local code. */
      snomed: Type.Optional(
        Type.String({ pattern: '^[1-9]\\d{5,17}$', description: 'must be a SNOMED CT concept id' }),
      ),
      name: text,
      abbreviation: Type.Optional(text),
      /** Other names of the same test. Typing one in the search and pressing Enter adds the test. */
      synonyms: Type.Optional(Type.Array(text)),
      /** Words that find the test, but never add it: indications, organs, samples. */
      finds: Type.Optional(Type.Array(text)),
      group: id,
      location: id,
      /** The container of its only sample, in place of `samples`. */
      container: Type.Optional(id),
      /** If this and `container` are absent, nothing is collected from the patient, as for imaging. */
      samples: Type.Optional(Type.Array(sample, { minItems: 1 })),
      /** Instructions for before and during collection. */
      note: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      /** The laboratory must be telephoned for each request. */
      telephoneFirst: Type.Optional(Type.Boolean()),
      /** For a panel: the tests that it contains, which need not be ordered separately. */
      covers: Type.Optional(Type.Array(code, { minItems: 1 })),
      /** A repeat for the same patient within this interval needs a reason. */
      minimumIntervalDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3660 })),
      asks: Type.Optional(
        Type.Array(closedObject({ question: id, isRequired: Type.Optional(Type.Boolean()) })),
      ),
      /** The properties of an imaging examination. */
      imaging: Type.Optional(
        closedObject({
          modality: Type.Enum(['x-ray', 'ct', 'mri', 'ultrasound', 'dxa']),
          /** The examination is of one or both sides of the body. */
          hasSides: Type.Optional(Type.Boolean()),
          /** A contrast medium may be given. */
          hasContrast: Type.Optional(Type.Boolean()),
        }),
      ),
      /** The laboratory refuses the test without clinical details. Imaging needs them by default. */
      needsClinicalDetails: Type.Optional(Type.Boolean()),
      /** The test is not offered for other patients; requesting it for one needs a reason. */
      appliesTo: Type.Optional(appliesTo),
    }),
    { minItems: 1 },
  ),
  questions: Type.Optional(Type.Array(question)),
  /** The tests that most practices request most, shown until a practice has a count of its own. */
  common: Type.Optional(Type.Array(code)),
  /** Services that are requested in another way. The search explains how; Enter adds nothing. */
  elsewhere: Type.Optional(
    Type.Array(
      closedObject({
        name: text,
        synonyms: Type.Optional(Type.Array(text)),
        /** How to request it instead, as a sentence. */
        instead: Type.String({ minLength: 1, maxLength: 200 }),
      }),
    ),
  ),
  orderSets: Type.Array(
    closedObject({
      id,
      name: text,
      tests: Type.Array(code, { minItems: 1 }),
      appliesTo: Type.Optional(appliesTo),
    }),
  ),
});

/** The content of a catalogue file. */
export type CatalogueFile = Static<typeof catalogueSchema>;
