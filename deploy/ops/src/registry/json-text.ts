/*
 * Changes of a JSON text that leave everything else of it as it is written: order, indentation, what is on one line.
 */

type Path = readonly (string | number)[];

/** Where a value stands in the text. */
type Place = {
  readonly start: number;
  readonly end: number;
  /** The places of its members or entries; none for a scalar. */
  readonly within: ReadonlyMap<string | number, Place>;
};

/** Adds an entry to the array at that path. @throws TypeError when there is none */
export function appendEntry(text: string, path: Path, entry: unknown): string {
  return insert(text, placeOf(text, path), (indent) => written(entry, text, indent));
}

/** Adds a member to the object at that path. @throws TypeError when there is none */
export function addMember(
  text: string,
  path: Path,
  { name, value }: { name: string; value: unknown },
): string {
  return insert(
    text,
    placeOf(text, path),
    (indent) => `${JSON.stringify(name)}: ${written(value, text, indent)}`,
  );
}

/** Writes another value in the place of the one at that path. @throws TypeError when there is none */
export function replaceValue(text: string, path: Path, value: unknown): string {
  const { start, end } = placeOf(text, path);
  return text.slice(0, start) + written(value, text, indentAt(text, start)) + text.slice(end);
}

/** Takes the member at that path out of its object, with its comma. @throws TypeError when there is none */
export function removeMember(text: string, path: Path): string {
  const names = [...placeOf(text, path.slice(0, -1)).within.keys()];
  const { start, end } = placeOf(text, path);
  const name = text.lastIndexOf(JSON.stringify(path.at(-1)), start);
  // The last member leaves the comma before it behind, any other one its own.
  const before = text.slice(0, name).trimEnd();
  const after = text.slice(end).trimStart();
  if (names.at(-1) !== path.at(-1)) return text.slice(0, name) + after.slice(1).trimStart();
  return before.replace(/,$/, '') + text.slice(end);
}

function insert(text: string, { start, end, within }: Place, write: (indent: string) => string): string {
  const last = [...within.values()].at(-1);
  if (last === undefined) {
    const indent = indentAt(text, start);
    const inner = `${indent}${unitOf(text)}`;
    return `${text.slice(0, start + 1)}\n${inner}${write(inner)}\n${indent}${text.slice(end - 1)}`;
  }
  const indent = indentAt(text, last.start);
  return `${text.slice(0, last.end)},\n${indent}${write(indent)}${text.slice(last.end)}`;
}

/** The white space at the beginning of the line. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** One step of indentation, as the text has it. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

const scalar = String.raw`(?:"(?:[^"\\]|\\.)*"|[-\w.+]+)`;
const scalarsOnly = new RegExp(String.raw`\[\s+(${scalar}(?:,\s+${scalar})*)\s+\]`, 'g');

/** Indented JSON with arrays of scalars on one line, the lines after the first moved in. */
function written(value: unknown, text: string, indent: string): string {
  return JSON.stringify(value, null, unitOf(text))
    .replace(scalarsOnly, (_array, entries: string) => `[${entries.replace(/,\s+/g, ', ')}]`)
    .replaceAll('\n', `\n${indent}`);
}

function placeOf(text: string, path: Path): Place {
  let place = readPlaces(text);
  for (const step of path) {
    const next = place.within.get(step);
    if (next === undefined) throw new TypeError(`There is nothing at ${path.join('.')}`);
    place = next;
  }
  return place;
}

/** Finds every value of a text. The text is JSON: whoever calls has parsed it. */
function readPlaces(text: string): Place {
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g)];
  let at = 0;
  const next = () => {
    const token = tokens[at];
    if (token === undefined) throw new TypeError('The text ends before its JSON does');
    at += 1;
    return { text: token[0], start: token.index, end: token.index + token[0].length };
  };
  const readValue = (): Place => {
    const opening = next();
    if (opening.text !== '{' && opening.text !== '[') return { ...opening, within: new Map() };
    const within = new Map<string | number, Place>();
    while (tokens[at]?.[0] !== '}' && tokens[at]?.[0] !== ']') {
      if (opening.text === '[') within.set(within.size, readValue());
      else {
        const name = String(JSON.parse(next().text));
        next();
        within.set(name, readValue());
      }
      if (tokens[at]?.[0] === ',') next();
    }
    return { start: opening.start, end: next().end, within };
  };
  return readValue();
}
