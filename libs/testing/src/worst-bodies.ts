import fc from 'fast-check';
import { editAt, type Json, pathsOf } from './json-edit.ts';

/** Returns the text, repeated to about `bytes` bytes. The text must be ASCII. */
const filled = (text: string, bytes: number) => text.repeat(Math.max(1, Math.floor(bytes / text.length)));

/** Pieces of JSON, valid or not, that a reader may read more than once. */
const pieces =
  String.raw`: , { } [ ] " \ 0 null "a" "\u0061" "a": "\u0061": {:} {} [] {"a":0} [[[ ]]] 0, "a",`.split(' ');

/** Generates a prefix, then repetitions of a few pieces up to the limit. */
function repeatedPieces(limitBytes: number): fc.Arbitrary<string> {
  const some = (maxLength: number) =>
    fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength }).map((chosen) => chosen.join(''));
  return fc
    .tuple(some(3), fc.constantFrom('', 'a', ' ', '\\u0061'), some(4))
    .map(([prefix, literal, unit]) => {
      const text = literal === '' ? prefix : `${prefix}"${filled(literal, limitBytes / 2)}"`;
      return (text + filled(unit, limitBytes - text.length)).slice(0, limitBytes);
    });
}

/** The values that are repeated in a list: invalid values of many kinds, and valid values. */
const units = [
  '0',
  '""',
  '[]',
  '{}',
  'null',
  '"\\u0061"',
  '[[0]]',
  '{"system":0}',
  '{"use":"usual","family":7}',
  '{"use":"usual","given":[0,0,0,0,0,0,0]}',
  '{"resourceType":"Patient"}',
  '{"resourceType":"Practitioner"}',
  '{"resourceType":"Patient","name":[0,0],"address":[0],"telecom":[0,0,0,0]}',
  '{"resourceType":"PractitionerRole","id":"a"}',
  '{"url":"https://fhir.clinical-launch.example/extension/author"}',
];

/**
 * Functions that return distinct member names: ordinary names, array indexes, larger integers, and escaped
 * names. JavaScript engines handle each kind differently.
 */
const names: readonly ((index: number) => string)[] = [
  (index) => `n${index}`,
  (index) => `${index}`,
  (index) => `${4294967296 * (index + 1)}`,
  (index) => `\\u006e${index}`,
];

/** Generates one value that fills the limit. */
function largeValue(limitBytes: number): fc.Arbitrary<string> {
  const list = fc.constantFrom(...units).map((unit) => `[${filled(`${unit},`, limitBytes - 8)}0]`);
  const object = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom('0', '{}', '[]'))
    .map(([name, value]) => {
      let members = '"x":0';
      for (let index = 0; members.length < limitBytes - 40; index += 1)
        members += `,"${name(index)}":${value}`;
      return `{${members}}`;
    });
  const text = fc
    .constantFrom('a', ' ', '\\u0061', '\\u200b', '\\ud800', '-', '#a', '1', 'a@', ':a')
    .map((unit) => `"${filled(unit, limitBytes - 8)}"`);
  const number = fc
    .constantFrom('1', '9', '0.1')
    .map((unit) => filled(unit, limitBytes).replaceAll('0.', '0'));
  return fc.oneof({ weight: 3, arbitrary: list }, object, text, number);
}

/**
 * Generates the most expensive bodies of at most `limitBytes` bytes: a valid body with a value as large as
 * possible, or pieces of JSON repeated up to the limit.
 */
export function worstJsonBodies(valid: Json, limitBytes: number): fc.Arbitrary<string> {
  const paths = pathsOf(valid);
  const embedded = fc.constantFrom(...paths).chain((path) => {
    const place = 'the value goes here';
    const [before = '', after = ''] = JSON.stringify(editAt(valid, path, () => place)).split(`"${place}"`);
    return largeValue(limitBytes - Buffer.byteLength(before + after)).map((value) => before + value + after);
  });
  return fc.oneof({ weight: 2, arbitrary: embedded }, repeatedPieces(limitBytes));
}

/** Generates forms of at most `limitBytes` bytes, with these fields among others. */
export function worstForms(fields: readonly string[], limitBytes: number): fc.Arbitrary<string> {
  const unit = fc.constantFrom(
    '&',
    '=&',
    'a&',
    '%',
    '%41',
    '+',
    'a=%ff&',
    ...fields.map((name) => `${name}=a&`),
  );
  const field = fc.constantFrom(...fields);
  return fc
    .tuple(field, unit, fc.boolean())
    .map(([name, repeated, isValue]) =>
      (isValue
        ? `${name}=${filled(repeated.replaceAll('&', 'a'), limitBytes)}`
        : filled(repeated, limitBytes)
      ).slice(0, limitBytes),
    );
}
