import { actions } from '@clinical-launch/contracts/launch-context';
import { defaultNamespaces, type Namespaces } from '@clinical-launch/contracts/namespaces';
import fc from 'fast-check';
import { editAt, type Json, pathsOf } from './json-edit.ts';
import { aServiceRequest } from './service-request.ts';

type Part = fc.Arbitrary<{ [member: string]: Json }>;

const character = fc
  .oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) },
    { weight: 2, arbitrary: fc.integer({ min: 0xa0, max: 0x24f }) },
    { weight: 1, arbitrary: fc.integer({ min: 0x600, max: 0x6ff }) },
    { weight: 1, arbitrary: fc.integer({ min: 0x4e00, max: 0x9fff }) },
    { weight: 1, arbitrary: fc.integer({ min: 0x1f300, max: 0x1f64f }) },
    { weight: 1, arbitrary: fc.constantFrom(0x26, 0x3c, 0xfffc, 0x10ffff) },
  )
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Generates text of 1 to `maxLength` code points that is visible and allowed in XML 1.0. */
function text(maxLength: number): fc.Arbitrary<string> {
  const size = maxLength <= 70 ? 'max' : 'medium';
  return fc
    .string({ unit: character, minLength: 1, maxLength, size })
    .filter((value) => /[^\s\p{Default_Ignorable_Code_Point}]/u.test(value));
}

/** Generates given names with at most 35 code points in total. */
const given = fc.oneof(
  text(35).map((name) => [name]),
  fc.array(text(7), { minLength: 1, maxLength: 5 }),
);

const prefix = fc.array(text(35), { maxLength: 3 });

function name(use: string, required: 'given'[] = [], familyLimit = 70): Part {
  return fc.record(
    { use: fc.constant(use), prefix, family: text(familyLimit), given },
    { requiredKeys: ['use', 'family', ...required] },
  );
}

function listed(...parts: Part[]): fc.Arbitrary<Json[]> {
  return fc.tuple(...parts);
}

function identifier(...systems: string[]): Part {
  return fc.record({ system: fc.constantFrom(...systems), value: text(1024) });
}

/**
 * Generates one identifier of a supported system, among identifiers of other systems, which the reader
 * ignores.
 */
function identifiers(...systems: string[]): fc.Arbitrary<Json[]> {
  const others = fc.array(identifier('urn:example:other', 'urn:example:another'), { maxLength: 2 });
  return fc
    .tuple(others, identifier(...systems), others)
    .map(([before, one, after]) => [...before, one, ...after]);
}

const date = fc
  .date({ min: new Date('1890-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((instant) => instant.toISOString().slice(0, 10));

const birthDate = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2026-01-01'), noInvalidDate: true })
  .map((instant) => instant.toISOString().slice(0, 10));

const dateTime = fc
  .tuple(
    date,
    fc.constantFrom('T00:00:00', 'T19:43:05', 'T23:59:59', 'T19:43:05.1', 'T19:43:05.1234567'),
    fc.constantFrom('Z', '+00:00', '-00:00', '+01:00', '-11:30', '+14:00'),
  )
  .map((parts) => parts.join(''));

/** Generates what serializers add to a request: modifiers that change nothing, and ignored elements. */
const harmless: Part = fc.record(
  {
    doNotPerform: fc.constant(false),
    status: fc.constantFrom('active', 'draft'),
    intent: fc.constant('order'),
    modifierExtension: fc.constant([]),
  },
  { requiredKeys: [] },
);

/**
 * Generates elements that are not in the specification's tables: elements of full FHIR R4, or of no standard.
 */
const extras: Part = fc
  .dictionary(fc.constantFrom('meta', 'text', 'note', '_family', 'active'), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 2,
  })
  .map((members) => JSON.parse(JSON.stringify(members)));

function patient({ fhir, nhs }: Namespaces): Part {
  const address = fc.record(
    {
      use: fc.constant('home'),
      type: fc.constant('physical'),
      line: fc.array(text(70), { maxLength: 5 }),
      postalCode: text(10),
    },
    { requiredKeys: ['use', 'type'] },
  );
  const contactPoint = fc.record(
    {
      system: fc.constantFrom('phone', 'email'),
      value: text(1024),
      use: fc.constantFrom('home', 'work', 'mobile'),
    },
    { requiredKeys: ['system', 'value'] },
  );
  const hospital = identifier(`${fhir}/Id/hospital-number`);
  const national = identifier(
    `${nhs}/Id/nhs-number`,
    ...['chi-number', 'gha-number', 'ssn-number'].map((one) => `${fhir}/Id/${one}`),
  );
  return fc.record(
    {
      name: fc.oneof(
        listed(name('usual')),
        listed(name('usual'), name('old', [], 35)),
        listed(name('old', [], 35), name('usual')),
      ),
      birthDate,
      gender: fc.constantFrom('male', 'female', 'other', 'unknown'),
      address: listed(address),
      identifier: fc.oneof(
        listed(national),
        listed(hospital),
        listed(national, hospital),
        listed(hospital, national),
      ),
      telecom: fc.array(contactPoint, { maxLength: 4 }),
    },
    { requiredKeys: ['name', 'birthDate', 'gender', 'address', 'identifier'] },
  );
}

function practitioner({ fhir, hl7uk }: Namespaces): Part {
  const others = fc.array(
    fc
      .constantFrom('official', 'temp', 'nickname', 'anonymous', 'old', 'maiden')
      .chain((use) => name(use, [], use === 'old' ? 35 : 70)),
    { maxLength: 2 },
  );
  return fc.record({
    identifier: identifiers(`${hl7uk}/Id/professional-code`, `${fhir}/Id/local-staff-code`),
    name: fc.tuple(others, name('usual')).map(([before, usual]): Json => [...before, usual]),
  });
}

function organization({ fhir, nhs }: Namespaces, ...otherSystems: string[]): Part {
  return fc.record({
    identifier: identifiers(`${nhs}/Id/ods-organization-code`, `${fhir}/Id/local-org-code`, ...otherSystems),
    name: text(1024),
  });
}

/**
 * Generates arbitrary valid payloads: with or without optional elements, with lengths up to their limits, in
 * many scripts, and with additional elements that the reader drops. Each payload has a new originating id.
 */
export function validServiceRequest(namespaces: Namespaces = defaultNamespaces): fc.Arbitrary<Json> {
  const author = fc.record({
    name: listed(name('usual', ['given'])),
    identifier: listed(identifier(`${namespaces.fhir}/Id/username`)),
  });
  const parts = fc.record({
    action: fc.constantFrom(...actions),
    originatingId: fc.uuid(),
    authoredOn: dateTime,
    author,
    patient: patient(namespaces),
    clinician: practitioner(namespaces),
    practice: organization(namespaces),
    laboratory: organization(namespaces, `${namespaces.fhir}/Id/performing-org`),
    request: fc.tuple(extras, harmless).map(([some, others]) => ({ ...some, ...others })),
    namespaces: fc.constant(namespaces),
  });
  const unknownResource = fc
    .tuple(fc.constantFrom('Specimen', 'Device', 'Coverage'), extras)
    .map(([resourceType, members]): Json => ({ ...members, resourceType }));
  const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 8 });
  return fc.tuple(parts, unknownResource, unknownResource, order).map(([chosen, one, other, places]) => {
    const payload = aServiceRequest(chosen);
    const contained = Array.isArray(payload['contained']) ? [...payload['contained'], one, other] : [];
    return { ...payload, contained: places.map((place) => contained[place] ?? null) };
  });
}

/** The ways to mutate a node of a payload. A mutation that returns `undefined` removes the node. */
const mutations: readonly ((node: Json) => Json | undefined)[] = [
  () => undefined,
  () => null,
  () => 0,
  () => true,
  () => 'text',
  () => [],
  () => ({}),
  () => '',
  () => ' \u{200b}\t',
  () => 'two\nlines',
  () => '#',
  () => '#patient',
  () => '__proto__',
  () => '2023-02-29',
  () => 1e308,
  (node) => [node],
  (node) => ({ value: node }),
  (node) => `${textOf(node)}\0`,
  (node) => `${textOf(node)}\ud800`,
  (node) => `\udc00${textOf(node)}`,
  (node) => `${textOf(node)}\uffff`,
  (node) => textOf(node).padEnd(36, 'x'),
  (node) => textOf(node).padEnd(71, '\u{20bb7}'),
  (node) => textOf(node).padEnd(5000, 'x'),
  (node) => (Array.isArray(node) ? [...node, ...node] : node),
  (node) => (Array.isArray(node) ? Array.from({ length: 50 }, () => node[0] ?? null) : node),
  (node) => (Array.isArray(node) ? node.toReversed() : node),
  (node) =>
    isObject(node) ? Object.fromEntries([...Object.entries(node), ['__proto__', { id: 'x' }]]) : node,
  (node) => (isObject(node) ? { ...node, constructor: null, toString: 1, length: -1 } : node),
  (node) =>
    isObject(node)
      ? { ...node, use: 'old', status: 'revoked', doNotPerform: true, link: [{ type: 'replaced-by' }] }
      : node,
  (node) => (isObject(node) ? { ...node, implicitRules: 'urn:x', modifierExtension: [{}] } : node),
  () => nested(60, (inner) => [inner]),
  () => nested(60, (inner) => ({ contained: [inner] })),
];

/**
 * Generates arbitrary payloads that were valid until one to five of their nodes were removed, retyped,
 * lengthened or nested.
 */
export function mutatedServiceRequest(namespaces: Namespaces = defaultNamespaces): fc.Arbitrary<Json> {
  const change = fc.record({ place: fc.nat(), mutation: fc.constantFrom(...mutations) });
  return fc
    .tuple(validServiceRequest(namespaces), fc.array(change, { minLength: 1, maxLength: 5 }))
    .map(([payload, changes]) =>
      changes.reduce<Json>((mutated, { place, mutation }) => {
        const paths = pathsOf(mutated);
        return editAt(mutated, paths[place % paths.length] ?? [], (node) => mutation(node ?? null));
      }, payload),
    );
}

function textOf(node: Json): string {
  return typeof node === 'string' ? node : '';
}

function isObject(node: Json): node is { [member: string]: Json } {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

function nested(levels: number, wrap: (inner: Json) => Json): Json {
  let node: Json = 'deep';
  for (let level = 0; level < levels; level += 1) node = wrap(node);
  return node;
}
