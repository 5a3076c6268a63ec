import { clinicianCode, codeKeyOf, performerCode, practiceCode, writtenKeyOf } from './coded-identifiers.ts';
import type { FileFault } from './fault.ts';
import { bareCode } from './formats.ts';
import type { LaunchRequest } from './launch-context.ts';
import { compileSchema, memberOf } from './schema.ts';
import { type Static, Type } from './type.ts';

const closed = { additionalProperties: false };
const atLeastOne = { minItems: 1 };

const directorySchema = Type.Object(
  {
    practices: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...practiceCode,
            /** The login names of the users of the practice. If absent, any user is accepted. */
            users: Type.Optional(Type.Array(Type.String({ minLength: 1 }), atLeastOne)),
            /** The users who may edit the practice's favourites and order sets. If absent, all users may. */
            editors: Type.Optional(Type.Array(Type.String({ minLength: 1 }), atLeastOne)),
          },
          closed,
        ),
        atLeastOne,
      ),
    ),
    performers: Type.Optional(Type.Array(Type.Object(performerCode, closed), atLeastOne)),
    clinicians: Type.Optional(Type.Array(Type.Object(clinicianCode, closed), atLeastOne)),
  },
  closed,
);

type DirectoryFile = Static<typeof directorySchema>;

/**
 * The codes that a laboratory agreed with its practices (OLTR: Terminology, Practitioner, Organization).
 * Each key is the `codeKeyOf` of a code. If a list is absent, every code of its kind is accepted.
 */
export type Directory = {
  readonly practices?: ReadonlyMap<string, AgreedPractice>;
  readonly performers?: ReadonlySet<string>;
  readonly clinicians?: ReadonlySet<string>;
};

export type AgreedPractice = {
  /** The login names of the users of the practice. If absent, any user is accepted. */
  readonly users?: ReadonlySet<string>;
  /** The users who may change the favourites and order sets of the practice. If absent, all users may. */
  readonly editors?: ReadonlySet<string>;
};

const compiled = compileSchema(directorySchema);

/** Returns all errors in the content of a directory file, with paths but without values. */
export function directoryFaults(candidate: unknown): FileFault[] {
  const faults = [...compiled.faultsOf(candidate), ...repetitionsIn(candidate)];
  // An empty directory would accept every code, which is probably a mistake.
  const isEmpty = compiled.is(candidate) && Object.keys(candidate).length === 0;
  return isEmpty ? [{ path: '', message: 'must list practices, performers or clinicians' }] : faults;
}

/**
 * Reads the content of a directory file.
 * @throws TypeError that lists all errors, with paths but without values
 */
export function parseDirectory(candidate: unknown): Directory {
  const faults = directoryFaults(candidate);
  if (faults.length > 0 || !compiled.is(candidate)) {
    throw directoryError(faults.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)));
  }
  const { practices, performers, clinicians } = candidate;
  return {
    ...(practices && {
      practices: new Map(practices.map((one) => [writtenKeyOf(one), agreedPractice(one)])),
    }),
    ...(performers && { performers: new Set(performers.map(writtenKeyOf)) }),
    ...(clinicians && { clinicians: new Set(clinicians.map(writtenKeyOf)) }),
  };
}

/** Creates the error for an invalid directory file, whatever its file format. */
export const directoryError = (problems: readonly string[]) =>
  new TypeError(`The directory is invalid:\n  ${problems.join('\n  ')}`);

const agreedPractice = ({
  users,
  editors,
}: NonNullable<DirectoryFile['practices']>[number]): AgreedPractice => ({
  ...(users && { users: new Set(users.map(bareCode)) }),
  ...(editors && { editors: new Set(editors.map(bareCode)) }),
});

/**
 * Returns whether the author of a launch may change the favourites and order sets of the practice. Returns
 * undefined if the directory lists no editors of the practice.
 */
export function isPracticeEditor(
  { practices }: Directory,
  { practice, author }: Pick<LaunchRequest, 'practice' | 'author'>,
): boolean | undefined {
  const agreed = practices?.get(codeKeyOf(practice.identifier));
  return agreed?.editors?.has(author.username);
}

/**
 * Returns an error for each repeated entry. Accepts any value, so that repeated and malformed entries are
 * reported together.
 */
function repetitionsIn(candidate: unknown): FileFault[] {
  const practices = listIn(candidate, 'practices');
  return [
    ...repeated('practices', practices.map(keyOfAny)),
    ...practices.flatMap((one, at) => [
      ...repeated(`practices[${at}].users`, listIn(one, 'users')),
      ...repeated(`practices[${at}].editors`, listIn(one, 'editors')),
    ]),
    ...repeated('performers', listIn(candidate, 'performers').map(keyOfAny)),
    ...repeated('clinicians', listIn(candidate, 'clinicians').map(keyOfAny)),
  ];
}

function listIn(owner: unknown, name: string): readonly unknown[] {
  const member = memberOf(owner, name);
  return Array.isArray(member) ? member : [];
}

function keyOfAny(entry: unknown): string | undefined {
  const [system, code] = [memberOf(entry, 'system'), memberOf(entry, 'code')];
  return typeof system === 'string' && typeof code === 'string' ? writtenKeyOf({ system, code }) : undefined;
}

function repeated(path: string, keys: readonly unknown[]): FileFault[] {
  const seen = new Set<unknown>();
  return keys.flatMap((key, index) => {
    const isRepeated = key !== undefined && seen.has(key);
    seen.add(key);
    return isRepeated ? [{ path: `${path}[${index}]`, message: 'is listed twice' }] : [];
  });
}
