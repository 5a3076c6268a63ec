import { performerCode } from '@clinical-launch/contracts/coded-identifiers';
import { closedObject } from '@clinical-launch/contracts/schema';
import { optionalText, type Static, Type } from '@clinical-launch/contracts/type';

const text = Type.String({ minLength: 1, maxLength: 100 });
const id = Type.String({
  pattern: '^[A-Za-z0-9-]{1,40}$',
  description: 'must be letters, digits and dashes',
});
const code = Type.String({ pattern: '^[A-Z0-9]{1,20}$', description: 'must be capital letters and digits' });

/** The patients to whom an entry applies (`AppliesTo`). */
const appliesTo = closedObject({
  sex: Type.Optional(Type.Enum(['female', 'male'])),
  ageFrom: Type.Optional(Type.Integer({ minimum: 0, maximum: 130 })),
  ageTo: Type.Optional(Type.Integer({ minimum: 0, maximum: 130 })),
});

/** A laboratory's question about the patient. The review asks it once for all tests that need the answer. */
export const question = closedObject({
  id,
  text,
  hint: Type.Optional(text),
  /** A `choice` has options, a `date` is a day, and a `text` is one line. */
  kind: Type.Enum(['choice', 'date', 'text']),
  options: Type.Optional(Type.Array(text, { minItems: 2 })),
  /** Present if a rule of `safetyFaults` depends on the topic. */
  topic: Type.Optional(Type.Enum(['pregnancy', 'side', 'mri-safety', 'contrast-allergy', 'kidney-function'])),
  /** The patients about whom the question is asked. */
  appliesTo: Type.Optional(appliesTo),
  /**
   * If true, the review asks once for each test, because the side of a knee says nothing about the side of a
   * shoulder.
   */
  perTest: Type.Optional(Type.Boolean()),
  /**
   * If true, a date must be given. By default, `Not known` is also an answer to a date, because a user who must
   * give a date that nobody knows invents one.
   */
  mustBeKnown: Type.Optional(Type.Boolean()),
  /** The maximum age of a date, in weeks. No date may be in the future. */
  withinWeeks: Type.Optional(Type.Integer({ minimum: 1, maximum: 520 })),
});

/** A sample that a test needs. Tests share a sample only if container, site and timing are equal. */
const sample = closedObject({
  container: id,
  /** The site on the body, if the test always has the same site: `Throat`. */
  site: Type.Optional(text),
  siteQuestion: Type.Optional(id),
  /** The time of a timed sample: `2 hours after glucose`. */
  timing: Type.Optional(text),
});

/** The schema of the catalogue file. Entries refer to each other by id. */
export const catalogueSchema = closedObject({
  /**
   * Separates favourites and order sets of this catalogue from those of other catalogues. Required with
   * `performers`.
   */
  id: Type.Optional(id),
  /** The laboratories that offer these tests. A catalogue without performers is the default catalogue. */
  performers: Type.Optional(Type.Array(closedObject(performerCode), { minItems: 1 })),
  locations: Type.Array(
    closedObject({
      /** The id is also the prefix of order references of this location. */
      id: Type.String({ pattern: '^[A-Z]{2,5}$', description: 'must be two to five capital letters' }),
      name: text,
      code: closedObject({
        value: text,
        scheme: Type.Union([Type.Literal('NHSORGANISATIONS'), Type.Literal('LOCAL')]),
      }),
      telephone: Type.Optional(text),
      /** The `OrderCategory` in the order document. */
      category: text,
    }),
    { minItems: 1 },
  ),
  containers: Type.Array(
    closedObject({
      id,
      name: text,
      closure: text,
      /** The colour of the cap, for which the stylesheet has a class. */
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
      /** The position in the order of draw. Lower numbers come first; blood comes before other samples. */
      drawOrder: Type.Integer({ minimum: 1 }),
      /**
       * True if the laboratory accepts only a label that was handwritten at the bedside, as for transfusion.
       */
      isLabelledByHand: Type.Optional(Type.Boolean()),
    }),
  ),
  groups: Type.Array(closedObject({ id, name: text }), { minItems: 1 }),
  orderables: Type.Array(
    closedObject({
      code,
      /** The SNOMED CT concept id; absent if uncertain. The order document contains only the local code. */
      snomed: optionalText({ pattern: '^[1-9]\\d{5,17}$', description: 'must be a SNOMED CT concept id' }),
      name: text,
      abbreviation: Type.Optional(text),
      /**
       * Other names of the same test. Except for imaging, Enter in the search box adds the test by any of
       * these names.
       */
      synonyms: Type.Optional(Type.Array(text)),
      /**
       * Words that find the test but do not name it, so Enter does not add it: indications, organs, samples.
       */
      finds: Type.Optional(Type.Array(text)),
      group: id,
      location: id,
      /** The container of the test's only sample, instead of `samples`. */
      container: Type.Optional(id),
      /** If `samples` and `container` are absent, the test needs no sample, as for imaging. */
      samples: Type.Optional(Type.Array(sample, { minItems: 1 })),
      /** Instructions to follow before and during collection. */
      note: optionalText({ minLength: 1, maxLength: 200 }),
      /** True if the note warns against a use of the test. The review shows it as an inset. */
      noteWarns: Type.Optional(Type.Boolean()),
      /** True if the practice must telephone the laboratory for each request. */
      telephoneFirst: Type.Optional(Type.Boolean()),
      /** The codes of the tests that a panel contains. These tests need not be ordered separately. */
      covers: Type.Optional(Type.Array(code, { minItems: 1 })),
      /** Within this interval, a repeat for the same patient needs a reason. */
      minimumIntervalDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3660 })),
      asks: Type.Optional(
        Type.Array(closedObject({ question: id, isRequired: Type.Optional(Type.Boolean()) })),
      ),
      imaging: Type.Optional(
        closedObject({
          modality: Type.Enum(['x-ray', 'ct', 'mri', 'ultrasound', 'dxa']),
          /** True if the part of the body has a left and a right side. */
          hasSides: Type.Optional(Type.Boolean()),
          /** True if the patient may receive a contrast medium. */
          hasContrast: Type.Optional(Type.Boolean()),
        }),
      ),
      /**
       * True if the laboratory refuses the test without clinical details. The default is true for imaging.
       */
      needsClinicalDetails: Type.Optional(Type.Boolean()),
      /** The patients to whom the test is offered. A request for another patient needs a reason. */
      appliesTo: Type.Optional(appliesTo),
    }),
    { minItems: 1 },
  ),
  questions: Type.Optional(Type.Array(question)),
  /**
   * The tests that most practices request most. The page shows them after a practice's own most requested
   * tests.
   */
  common: Type.Optional(Type.Array(code)),
  /** Services that practices request in another way. The search explains how, and Enter does not add them. */
  elsewhere: Type.Optional(
    Type.Array(
      closedObject({
        name: text,
        synonyms: Type.Optional(Type.Array(text)),
        /** A sentence that explains how to request the service instead. */
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

export type CatalogueFile = Static<typeof catalogueSchema>;
