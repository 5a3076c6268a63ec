import type { FileFault } from '@clinical-launch/contracts/fault';
import { compileSchema, withoutUndefined } from '@clinical-launch/contracts/schema';
import type { AppliesTo } from './applies-to.ts';
import { contentFaults } from './catalogue-faults.ts';
import { type CatalogueFile, catalogueSchema } from './catalogue-schema.ts';

/** The identifier of a laboratory in launches. */
export type Performer = Readonly<NonNullable<CatalogueFile['performers']>[number]>;
/** A laboratory location, where tests are performed. */
export type LabLocation = Readonly<CatalogueFile['locations'][number]>;
export type Container = Readonly<CatalogueFile['containers'][number]>;
export type Group = Readonly<CatalogueFile['groups'][number]>;
/** A question that a test asks about the patient. */
export type Question = Readonly<NonNullable<CatalogueFile['questions']>[number]>;

/** A service that practices request in another way, with the explanation. */
export type Elsewhere = Readonly<NonNullable<CatalogueFile['elsewhere']>[number]>;

/** A sample that a test needs, with its container and its question instead of their ids. */
export type NeededSample = {
  readonly container: Container;
  readonly site?: string;
  readonly siteQuestion?: Question;
  readonly timing?: string;
};

export type Imaging = Readonly<NonNullable<CatalogueFile['orderables'][number]['imaging']>>;

/** A test that a laboratory offers: a blood test, an X-ray. */
export type Orderable = {
  readonly code: string;
  readonly snomed?: string;
  readonly name: string;
  readonly abbreviation?: string;
  readonly synonyms: readonly string[];
  /** Words that find the test but do not name it: indications, organs, samples. */
  readonly finds: readonly string[];
  readonly group: Group;
  readonly location: LabLocation;
  /** Empty if the test needs no sample from the patient. */
  readonly samples: readonly NeededSample[];
  readonly note?: string;
  readonly noteWarns?: boolean;
  readonly telephoneFirst?: boolean;
  /** The codes of the tests that a panel contains; empty for a single test. */
  readonly covers: readonly string[];
  readonly minimumIntervalDays?: number;
  readonly asks: readonly { readonly question: Question; readonly isRequired: boolean }[];
  readonly imaging?: Imaging;
  readonly needsClinicalDetails: boolean;
  readonly appliesTo?: AppliesTo;
};

/** Tests that are often ordered together. */
export type OrderSet = {
  readonly id: string;
  readonly name: string;
  readonly tests: readonly Orderable[];
  readonly appliesTo?: AppliesTo;
};

/** A catalogue with objects instead of ids. Its lists have the order of the page. */
export type Catalogue = {
  /** Absent in the default catalogue. */
  readonly id?: string;
  /** Empty in the default catalogue. */
  readonly performers: readonly Performer[];
  readonly locations: readonly LabLocation[];
  readonly containers: ReadonlyMap<string, Container>;
  readonly groups: readonly Group[];
  readonly orderables: ReadonlyMap<string, Orderable>;
  readonly questions: ReadonlyMap<string, Question>;
  readonly orderSets: ReadonlyMap<string, OrderSet>;
  /** The tests that most practices request most, most requested first. */
  readonly common: readonly Orderable[];
  readonly elsewhere: readonly Elsewhere[];
};

const compiled = compileSchema(catalogueSchema);

/**
 * Validates a catalogue file against its schema, rejects duplicates, and resolves every reference.
 * @throws TypeError that lists every error by its path
 */
export function parseCatalogue(candidate: unknown): Catalogue {
  if (!compiled.is(candidate)) throw catalogueError(compiled.faultsOf(candidate).map(lineOf));
  const faults: FileFault[] = [];
  const { unique, lookUp, lookUpAll } = referencesWith(faults);

  const { id: catalogueId, performers = [] } = candidate;
  const locations = unique(candidate.locations, 'locations', (entry) => entry.id);
  const containers = unique(candidate.containers, 'containers', (entry) => entry.id);
  const groups = unique(candidate.groups, 'groups', (entry) => entry.id);
  const questions = unique(candidate.questions ?? [], 'questions', (entry) => entry.id);
  faults.push(...contentFaults(candidate));
  const askedOf = (asks: NonNullable<CatalogueFile['orderables'][number]['asks']>, path: string) =>
    asks.flatMap(({ question: id, isRequired = false }, at) => {
      const question = lookUp(questions, id, `${path}[${at}].question`);
      return question === undefined ? [] : [{ question, isRequired }];
    });
  const samplesOf = samplesReader({ containers, questions, lookUp });
  const orderables = candidate.orderables.flatMap((entry, index): Orderable[] => {
    const path = `orderables[${index}]`;
    const { container, samples: needed, synonyms = [], finds = [], covers = [], asks = [], ...rest } = entry;
    const group = lookUp(groups, entry.group, `${path}.group`);
    const location = lookUp(locations, entry.location, `${path}.location`);
    if (group === undefined || location === undefined) return [];
    return [
      {
        ...rest,
        synonyms,
        finds,
        group,
        location,
        covers,
        asks: askedOf(asks, `${path}.asks`),
        // IR(ME)R 2017, regulation 10, requires sufficient clinical information to justify an examination.
        needsClinicalDetails: entry.needsClinicalDetails ?? isImaging(entry, location),
        samples: [
          ...(container === undefined ? [] : samplesOf([{ container }], path)),
          ...samplesOf(needed ?? [], `${path}.samples`),
        ],
      },
    ];
  });
  const byCode = unique(orderables, 'orderables', (entry) => entry.code);
  const orderSets = candidate.orderSets.map(
    (set, index): OrderSet => ({ ...set, tests: lookUpAll(byCode, set.tests, `orderSets[${index}].tests`) }),
  );
  const common = lookUpAll(byCode, candidate.common, 'common');
  const sets = unique(orderSets, 'orderSets', (entry) => entry.id);
  if (faults.length > 0) throw catalogueError(faults.map(lineOf));
  return {
    ...withoutUndefined({ id: catalogueId }),
    performers,
    locations: [...locations.values()],
    containers,
    groups: [...groups.values()],
    orderables: byCode,
    questions,
    orderSets: sets,
    common,
    elsewhere: candidate.elsewhere ?? [],
  };
}

/** Returns whether a test is an imaging examination. */
export const isImaging = ({ imaging }: Pick<Orderable, 'imaging'>, { category }: LabLocation) =>
  imaging !== undefined || category === 'Imaging';

/** Creates functions that resolve the references of a catalogue, and add errors to `faults`. */
function referencesWith(faults: FileFault[]) {
  const lookUp = <T>(entries: ReadonlyMap<string, T>, key: string, path: string) => {
    const found = entries.get(key);
    if (found === undefined) faults.push({ path, message: 'must be the id of an entry in this catalogue' });
    return found;
  };
  return {
    unique: <T>(list: readonly T[], path: string, keyOf: (entry: T) => string) =>
      uniqueBy({ list, path, keyOf, faults }),
    lookUp,
    lookUpAll: <T>(entries: ReadonlyMap<string, T>, keys: readonly string[] | undefined, path: string) =>
      (keys ?? []).flatMap((key, at) => lookUp(entries, key, `${path}[${at}]`) ?? []),
  };
}

type SampleEntry = NonNullable<CatalogueFile['orderables'][number]['samples']>[number];

/** Creates a function that replaces the ids in samples by their containers and site questions. */
function samplesReader({
  containers,
  questions,
  lookUp,
}: {
  containers: ReadonlyMap<string, Container>;
  questions: ReadonlyMap<string, Question>;
  lookUp: ReturnType<typeof referencesWith>['lookUp'];
}) {
  return (entries: readonly SampleEntry[], path: string): NeededSample[] =>
    entries.flatMap(({ container: containerId, siteQuestion: questionId, ...rest }, at) => {
      const place = path.endsWith('.samples') ? `${path}[${at}]` : path;
      const container = lookUp(containers, containerId, `${place}.container`);
      const siteQuestion = questionId && lookUp(questions, questionId, `${place}.siteQuestion`);
      return container === undefined ? [] : [{ ...rest, container, ...(siteQuestion && { siteQuestion }) }];
    });
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
