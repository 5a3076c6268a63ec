import type { CodedIdentifier } from '../coded-identifiers.ts';
import { type Fault, nearMiss, oneOf } from '../fault.ts';
import { bareCode, singleLine, wellDecoded } from '../formats.ts';
import type { PersonName } from '../launch-context.ts';
import { entriesOf, lengthOf, maxEntries, memberOf, textsAmong, withoutUndefined } from '../schema.ts';
import { type TProperties, type TSchema, Type } from '../type.ts';
import type { IdentifierSystems } from './identifier-systems.ts';

/*
 * The schemas of the elements of a payload, and the rules that a schema cannot check, or only with error
 * messages that would not help the caller. Each rule accepts a resource of any shape, and ignores errors that
 * the schema reports.
 */

/** The maximum length of strings whose length the tables of the specification do not limit. */
const unnamedLimit = 1024;

const givenLimit = 70;
const givenTotalLimit = 35;
const familyLimits = { usual: 70, old: 35 };

/**
 * The maximum number of entries in `given` and `prefix`. Given names have at most 35 characters in total, so
 * a longer list cannot be valid.
 */
const maxNameParts = 35;

export const id = Type.String({
  pattern: '^[A-Za-z0-9\\-.]{1,64}$',
  description: 'must be 1 to 64 letters, digits, hyphens or full stops',
});

/**
 * Returns the schema of an optional member that is otherwise ignored. Refuses the values that would change
 * the meaning of what is read: a receiver must check them (FHIR R4 conformance rules, isModifier).
 */
export const modifier = (refused: object, description: string) =>
  Type.Optional(Type.Unsafe<unknown>({ not: refused, description }));

const modifierExtension = modifier(
  { anyOf: [{ type: 'array', minItems: 1 }, { type: 'object' }] },
  'must be empty, because modifier extensions are not supported',
);

export const implicitRules = modifier(
  { type: 'string', minLength: 1 },
  'must be absent, because implicit rules are not supported',
);

const currentUse = modifier({ const: 'old' }, 'must not be old. Send the current identifier');

/** Returns the schema of an element, which must not have modifier extensions. */
export const element = <P extends TProperties>(properties: P) =>
  Type.Object({ ...properties, modifierExtension });

export const containedReference = element({
  reference: Type.String({
    pattern: '^#[A-Za-z0-9\\-.]{1,64}$',
    description: 'must be # followed by the id of a contained resource',
  }),
});

/** Returns the reference in a member of an unvalidated resource. It can have any type. */
export const referenceIn = (owner: unknown, member: string): unknown =>
  memberOf(memberOf(owner, member), 'reference');

/** The rules for every text: at least one visible character, no line breaks or tabs, and valid in XML. */
const legible = {
  pattern: '[^\\s\\p{Default_Ignorable_Code_Point}]',
  description: 'must not be empty or blank',
  format: 'xml-text',
  // Accepts a blank text, because the pattern above already reports it.
  allOf: [
    {
      pattern: `${singleLine.pattern}|^[\\s\\p{Default_Ignorable_Code_Point}]*$`,
      description: singleLine.description,
    },
  ],
};

/** Returns the schema of text with at most `maxLength` Unicode code points. */
export function text(maxLength = unnamedLimit, annotations = {}) {
  return Type.String({ ...legible, maxLength, ...annotations });
}

const legibleName = { ...legible, allOf: [...legible.allOf, wellDecoded] };

/**
 * Returns the schema of a text in a list, or of the `null` beside an entry of the list with `_`, which
 * `placeholderFaults` checks (FHIR R4 JSON, representation of primitive elements).
 */
export const textOrNull = (maxLength: number, annotations = {}) =>
  Type.Unsafe<string | null>({ ...text(maxLength, annotations), type: ['string', 'null'] });

export const nameText = (maxLength = unnamedLimit) => text(maxLength, legibleName);

export function listOf<S extends TSchema>(schema: S, minItems: number, maxItems = maxEntries) {
  return Type.Array(schema, { minItems, maxItems });
}

const namePart = (maxLength: number, minItems = 0) =>
  listOf(textOrNull(maxLength, legibleName), minItems, maxNameParts);

/** The list of given names of a name that must have one. */
export const requiredGiven = namePart(givenLimit, 1);

/**
 * A family name whose length the schema does not limit. If the use may be `old`, `familyFaults` checks the
 * length, because the limit depends on the use.
 */
export const anyFamily = Type.String(legibleName);

/**
 * Returns the properties of OLTR: HumanName. `givenNameFaults` checks the total length of `given`, which a
 * schema cannot limit.
 */
export function humanName<Use extends string>(uses: Use[], annotations = {}) {
  return {
    use: Type.Enum(uses, annotations),
    prefix: Type.Optional(namePart(35)),
    family: nameText(familyLimits.usual),
    given: Type.Optional(namePart(givenLimit)),
  };
}

type Texts = readonly (string | null)[] | undefined;

/** Returns the name in the launch context of a valid name. */
export function personNameFrom(name: { prefix?: Texts; family: string; given?: Texts }): PersonName {
  const [title] = textsAmong(name.prefix ?? []);
  return { ...withoutUndefined({ title }), family: name.family, given: textsAmong(name.given ?? []) };
}

/**
 * Checks that the given names in each name have at most 35 characters in total (OLTR: HumanName.given). Only
 * the family name of an old name is used.
 */
export function givenNameFaults(resource: unknown): Fault[] {
  return entriesOf(resource, 'name').flatMap((name, index) => {
    if (isOld(name)) return [];
    const lengths = textsAmong(entriesOf(name, 'given')).map(lengthOf);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    if (total <= givenTotalLimit || lengths.some((length) => length > givenLimit)) return [];
    const message = `must have at most ${givenTotalLimit} characters in total`;
    return [{ path: `name[${index}].given`, message, code: 'too-long' }];
  });
}

/** Checks that a family name has at most 70 characters, or 35 if its use is old (OLTR: HumanName.family). */
export function familyFaults(resource: unknown): Fault[] {
  return entriesOf(resource, 'name').flatMap((name, index) => {
    const family = memberOf(name, 'family');
    const limit = isOld(name) ? familyLimits.old : familyLimits.usual;
    if (typeof family !== 'string' || lengthOf(family) <= limit) return [];
    const message = `must have at most ${limit} characters`;
    return [{ path: `name[${index}].family`, message, code: 'too-long' }];
  });
}

/**
 * Checks that a `null` in a list of texts is the placeholder of an entry of the list with `_`, such as
 * `_given` (FHIR R4 JSON, representation of primitive elements).
 */
export function placeholderFaults(resource: unknown): Fault[] {
  const faultsIn = (owner: unknown, path: string, member: string): Fault[] => {
    const entries = entriesOf(owner, member);
    if (!entries.includes(null)) return [];
    const beside = entriesOf(owner, `_${member}`);
    const message = `must be of type string, or null beside an entry of _${member}`;
    return entries.flatMap((entry, index) =>
      entry !== null || (typeof beside[index] === 'object' && beside[index] !== null)
        ? []
        : [{ path: `${path}.${member}[${index}]`, message, code: 'structure' }],
    );
  };
  return ['name', 'address'].flatMap((list) =>
    entriesOf(resource, list).flatMap((owner, at) =>
      ['prefix', 'given', 'line'].flatMap((member) => faultsIn(owner, `${list}[${at}]`, member)),
    ),
  );
}

/**
 * Returns the schema of an identifier in a list that may contain any system. The supported systems are
 * examples, because identifiers of other systems are accepted and ignored.
 */
export function identifierSuchAs(systems: Iterable<string>) {
  return element({ system: text(unnamedLimit, { examples: [...systems] }), value: text() });
}

/** Returns the schema of an identifier in a list that may contain only these systems, and none that is old. */
export function identifierOf(systems: Iterable<string>) {
  return element({ system: Type.Enum([...systems]), value: text(), use: currentUse });
}

/** Returns true if an identifier or a name is no longer in use (FHIR R4 datatypes, Identifier.use). */
export const isOld = (entry: unknown): boolean => memberOf(entry, 'use') === 'old';

/**
 * Checks that at least one identifier has a supported system and is not old. Identifiers with other systems,
 * and old identifiers, are allowed and ignored.
 */
export function identifierFaults(resource: unknown, supported: readonly string[]): Fault[] {
  const identifiers = entriesOf(resource, 'identifier');
  const systems = identifiers.map((identifier) => memberOf(identifier, 'system'));
  const areComparable =
    systems.length > 0 && systems.every((system) => typeof system === 'string' && system.trim() !== '');
  const found = identifiers.filter((_, at) => supported.some((one) => one === systems[at]));
  if (!areComparable || found.some((identifier) => !isOld(identifier))) return [];
  const message = `must have an entry whose system is ${oneOf(supported)}`;
  if (found.length > 0)
    return [{ path: 'identifier', message: `${message}, and whose use is not old`, code: 'not-supported' }];
  const hint = systems.map((system) => nearMiss(system, supported)).find((hinted) => hinted !== '') ?? '';
  return [{ path: 'identifier', message: message + hint, code: 'invariant' }];
}

/** Returns the supported system of an identifier, or undefined for another system. */
export function systemOf<Name extends string>(identifier: unknown, systems: IdentifierSystems<Name>) {
  const uri = memberOf(identifier, 'system');
  return typeof uri === 'string' ? systems.get(uri) : undefined;
}

/**
 * Returns the identifiers of an unvalidated resource that have a supported system and are not old. `value` has
 * no outer blanks, and is absent if it is not a text. `at` is the index in `identifier`.
 */
export function supportedIn<Name extends string>(resource: unknown, systems: IdentifierSystems<Name>) {
  const found: { system: Name; value: string | undefined; at: number }[] = [];
  for (const [at, identifier] of entriesOf(resource, 'identifier').entries()) {
    const system = systemOf(identifier, systems);
    if (system === undefined || isOld(identifier)) continue;
    const value = memberOf(identifier, 'value');
    found.push({ system, value: typeof value === 'string' ? bareCode(value) : undefined, at });
  }
  return found;
}

/** Returns the supported identifiers of a valid resource, as the launch context contains them. */
export const codedIdentifiersIn = <Name extends string>(
  resource: unknown,
  systems: IdentifierSystems<Name>,
): CodedIdentifier<Name>[] =>
  supportedIn(resource, systems).flatMap(({ system, value }) =>
    value === undefined ? [] : [{ system, value }],
  );
