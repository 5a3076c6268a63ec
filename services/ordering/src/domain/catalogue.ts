import { closedObject, compileSchema, type FileFault, performerCode } from '@clinical-launch/contracts';
import { type Static, Type } from '@clinical-launch/contracts/type';

const text = Type.String({ minLength: 1, maxLength: 100 });
const id = Type.String({
  pattern: '^[A-Za-z0-9-]{1,40}$',
  description: 'must be letters, digits and dashes',
});
const code = Type.String({ pattern: '^[A-Z0-9]{1,20}$', description: 'must be capital letters and digits' });

/** A question of the laboratory about the patient, asked once for all tests that need it. */
const question = closedObject({
  id,
  text,
  hint: Type.Optional(text),
  /** `choice` needs options; `date` is a day; `text` is a line. */
  kind: Type.Enum(['choice', 'date', 'text']),
  options: Type.Optional(Type.Array(text, { minItems: 2 })),
});

/** The form of the catalogue file: entries refer to each other by id. */
export const catalogueSchema = closedObject({
  /** Separates a practice's choices in this catalogue from those in others. Required with `performers`. */
  id: Type.Optional(id),
  /** The performers that offer these tests; without them, this is the default catalogue. */
  performers: Type.Optional(Type.Array(closedObject(performerCode), { minItems: 1 })),
  locations: Type.Array(
    closedObject({
      /** Also the prefix of the references of its order batches. */
      id: Type.String({ pattern: '^[A-Z]{2,5}$', description: 'must be two to five capital letters' }),
      name: text,
      code: closedObject({
        value: text,
        scheme: Type.Union([Type.Literal('NHSORGANISATIONS'), Type.Literal('LOCAL')]),
      }),
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
      /**
       * The laboratory accepts no printed label on it, as for transfusion: it must be labelled by hand at the
       * bedside.
       */
      isLabelledByHand: Type.Optional(Type.Boolean()),
    }),
  ),
  groups: Type.Array(closedObject({ id, name: text }), { minItems: 1 }),
  orderables: Type.Array(
    closedObject({
      code,
      name: text,
      abbreviation: Type.Optional(text),
      synonyms: Type.Optional(Type.Array(text)),
      group: id,
      location: id,
      /** Absent if nothing is taken from the patient, as for imaging. */
      container: Type.Optional(id),
      note: Type.Optional(text),
      /** A panel: the tests that it contains, which need not be ordered separately. */
      covers: Type.Optional(Type.Array(code, { minItems: 1 })),
      /** A repeat for the same patient within this interval needs a reason. */
      minimumIntervalDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3660 })),
      asks: Type.Optional(
        Type.Array(closedObject({ question: id, isRequired: Type.Optional(Type.Boolean()) })),
      ),
      /** The laboratory refuses it without clinical details. */
      needsClinicalDetails: Type.Optional(Type.Boolean()),
    }),
    { minItems: 1 },
  ),
  questions: Type.Optional(Type.Array(question)),
  orderSets: Type.Array(closedObject({ id, name: text, tests: Type.Array(code, { minItems: 1 }) })),
});

type CatalogueFile = Static<typeof catalogueSchema>;

/** A laboratory as launches name it. */
export type Performer = Readonly<NonNullable<CatalogueFile['performers']>[number]>;
/** A place where tests are performed. */
export type LabLocation = Readonly<CatalogueFile['locations'][number]>;
/** A container for a sample. */
export type Container = Readonly<CatalogueFile['containers'][number]>;
export type Group = Readonly<CatalogueFile['groups'][number]>;
/** A question about an ordered test. */
export type Question = Readonly<Static<typeof question>>;

/** A service that a laboratory provides: a blood test, an X-ray. */
export type Orderable = {
  readonly code: string;
  readonly name: string;
  readonly abbreviation?: string;
  readonly synonyms: readonly string[];
  readonly group: Group;
  readonly location: LabLocation;
  readonly container?: Container;
  readonly note?: string;
  /** The codes of the tests that a panel contains; empty for a single test. */
  readonly covers: readonly string[];
  readonly minimumIntervalDays?: number;
  readonly asks: readonly { readonly question: Question; readonly isRequired: boolean }[];
  readonly needsClinicalDetails: boolean;
};

/** Tests that are often ordered together. */
export type OrderSet = {
  readonly id: string;
  readonly name: string;
  readonly tests: readonly Orderable[];
};

/** The catalogue with all references resolved. Its lists are in the order of the pages. */
export type Catalogue = {
  /** Absent from the default catalogue. */
  readonly id?: string;
  /** Empty for the default catalogue. */
  readonly performers: readonly Performer[];
  readonly locations: readonly LabLocation[];
  readonly containers: ReadonlyMap<string, Container>;
  readonly groups: readonly Group[];
  readonly orderables: ReadonlyMap<string, Orderable>;
  readonly questions: ReadonlyMap<string, Question>;
  readonly orderSets: ReadonlyMap<string, OrderSet>;
};

const compiled = compileSchema(catalogueSchema);

/**
 * Checks the content of a catalogue file: its form, that nothing is repeated, and that every reference
 * resolves.
 * @throws TypeError that lists every error by its path
 */
export function parseCatalogue(candidate: unknown): Catalogue {
  if (!compiled.is(candidate)) throw catalogueError(compiled.faultsOf(candidate).map(lineOf));
  const faults: FileFault[] = [];
  const { unique, lookUp } = referencesWith(faults);

  const { id: catalogueId, performers = [] } = candidate;
  const locations = unique(candidate.locations, 'locations', (entry) => entry.id);
  const containers = unique(candidate.containers, 'containers', (entry) => entry.id);
  const groups = unique(candidate.groups, 'groups', (entry) => entry.id);
  const questions = unique(candidate.questions ?? [], 'questions', (entry) => entry.id);
  faults.push(
    ...idFaults(candidate),
    ...optionFaults(candidate.questions ?? []),
    ...panelFaults(candidate.orderables),
  );
  const askedOf = (asks: NonNullable<CatalogueFile['orderables'][number]['asks']>, path: string) =>
    asks.flatMap(({ question: id, isRequired = false }, at) => {
      const question = lookUp(questions, id, `${path}[${at}].question`);
      return question === undefined ? [] : [{ question, isRequired }];
    });
  const orderables = candidate.orderables.flatMap((entry, index): Orderable[] => {
    const path = `orderables[${index}]`;
    const { container: containerId, synonyms = [], covers = [], asks = [], ...rest } = entry;
    const group = lookUp(groups, entry.group, `${path}.group`);
    const location = lookUp(locations, entry.location, `${path}.location`);
    const container =
      containerId === undefined ? undefined : lookUp(containers, containerId, `${path}.container`);
    if (group === undefined || location === undefined) return [];
    return [
      {
        ...rest,
        synonyms,
        group,
        location,
        covers,
        asks: askedOf(asks, `${path}.asks`),
        needsClinicalDetails: entry.needsClinicalDetails ?? false,
        ...(container === undefined ? {} : { container }),
      },
    ];
  });
  const byCode = unique(orderables, 'orderables', (entry) => entry.code);
  const orderSets = candidate.orderSets.map(
    (set, index): OrderSet => ({
      ...set,
      tests: set.tests.flatMap((test, at) => lookUp(byCode, test, `orderSets[${index}].tests[${at}]`) ?? []),
    }),
  );
  const sets = unique(orderSets, 'orderSets', (entry) => entry.id);
  if (faults.length > 0) throw catalogueError(faults.map(lineOf));
  return {
    ...(catalogueId === undefined ? {} : { id: catalogueId }),
    performers,
    locations: [...locations.values()],
    containers,
    groups: [...groups.values()],
    orderables: byCode,
    questions,
    orderSets: sets,
  };
}

/** Creates what reads keys and references of a catalogue, and adds their faults. */
function referencesWith(faults: FileFault[]) {
  return {
    unique: <T>(list: readonly T[], path: string, keyOf: (entry: T) => string) =>
      uniqueBy({ list, path, keyOf, faults }),
    lookUp: <T>(entries: ReadonlyMap<string, T>, key: string, path: string) => {
      const found = entries.get(key);
      if (found === undefined) faults.push({ path, message: 'must be the id of an entry in this catalogue' });
      return found;
    },
  };
}

/** A catalogue of certain performers needs an id, and the default one has none. */
function idFaults({ id, performers = [] }: CatalogueFile): FileFault[] {
  if ((id === undefined) === (performers.length === 0)) return [];
  return [{ path: 'id', message: 'must be present with performers, and only then' }];
}

function optionFaults(questions: readonly Question[]): FileFault[] {
  return questions.flatMap(({ kind, options }, index) =>
    (kind === 'choice') === (options === undefined)
      ? [{ path: `questions[${index}].options`, message: 'must be present for a choice, and only then' }]
      : [],
  );
}

/** Checks that a panel contains only single tests of the catalogue: nested panels would be ambiguous. */
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

type UniqueList<T> = {
  readonly list: readonly T[];
  readonly path: string;
  readonly keyOf: (entry: T) => string;
  readonly faults: FileFault[];
};

function uniqueBy<T>({ list, path, keyOf, faults }: UniqueList<T>): Map<string, T> {
  const entries = new Map<string, T>();
  for (const [index, entry] of list.entries()) {
    if (entries.has(keyOf(entry))) faults.push({ path: `${path}[${index}]`, message: 'is repeated' });
    entries.set(keyOf(entry), entry);
  }
  return entries;
}

const lineOf = ({ path, message }: FileFault) => `${path} ${message}`;

/** Creates the error of an invalid catalogue. */
export const catalogueError = (faults: readonly string[]) =>
  new TypeError(`The catalogue is invalid:\n  ${faults.join('\n  ')}`);
