import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closedObject, createParser, type StaticOf } from '@clinical-launch/contracts';
import { Type } from '@clinical-launch/contracts/type';
import { parseYaml } from '@redocly/openapi-core';

/** The folder of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

const text = Type.String({ minLength: 1 });
const path = Type.String({ pattern: '^[\\w.-]+(/[\\w.-]+)*$', description: 'must be a path from the root' });

const citedTests = closedObject({
  file: path,
  /** `title` or `group › title`; with `rows`, some rows of a table of tests. */
  titles: Type.Array(
    Type.Union([text, closedObject({ title: text, rows: Type.Array(text, { minItems: 1 }) })]),
    { minItems: 1 },
  ),
});
const evidence = {
  tests: Type.Array(citedTests),
  /** Why there is no test. */
  noTest: Type.Optional(text),
};
const decisionSchema = closedObject({
  topic: text,
  question: text,
  decision: text,
  /** The record in `docs/decisions/` that gives reasons and alternatives. */
  record: Type.Optional(path),
  ...evidence,
});
const conformanceSchema = closedObject({
  /** `specification / section / row`, as in the outline. */
  spec: text,
  /** What the platform does. */
  does: text,
  implementedIn: Type.Array(path),
  ...evidence,
});
const outlineSchema = closedObject({
  topics: Type.Array(text),
  specifications: Type.Array(
    closedObject({
      name: text,
      title: text,
      about: Type.Optional(text),
      sections: Type.Array(
        closedObject({
          heading: text,
          /** The heading of the section around it. */
          within: Type.Optional(text),
          about: Type.Optional(text),
          rows: Type.Array(text),
        }),
      ),
    }),
  ),
});

export type CitedTests = StaticOf<typeof citedTests>;
export type Outline = StaticOf<typeof outlineSchema>;
/** A row of a small file, with the package whose tests it is beside: `services/ordering`. */
export type DecisionRow = StaticOf<typeof decisionSchema> & { readonly package: string };
export type ConformanceRow = StaticOf<typeof conformanceSchema> & { readonly package: string };

const parseOutline = createParser(outlineSchema, 'outline of the documents');
const parseDecisions = createParser(Type.Array(decisionSchema), 'list of decisions');
const parseConformance = createParser(Type.Array(conformanceSchema), 'list of conformance rows');

const read = (file: string): unknown => parseYaml(readFileSync(`${root}${file}`, 'utf8'));

/** Returns the topics of the decisions and the rows of the two specifications, in their order. */
export const readOutline = (): Outline => parseOutline(read('deploy/docs/outline.yaml'));

/** Returns the rows of every `decisions.yaml` beside the tests. */
export const readDecisions = (): DecisionRow[] => rowsOf('decisions.yaml', parseDecisions);

/** Returns the rows of every `conformance.yaml` beside the tests. */
export const readConformance = (): ConformanceRow[] => rowsOf('conformance.yaml', parseConformance);

/** Services come first, since a reader begins there. */
const folders = [
  'services/*/test',
  'libs/*/test',
  'deploy/{ops,platform,simulators}/test',
  'deploy/tests/system',
];

function rowsOf<Row>(
  name: string,
  parse: (candidate: unknown) => readonly Row[],
): (Row & { package: string })[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/${name}`, { cwd: root }).toSorted());
  return files.flatMap((file) => {
    const owner = dirname(file).replace(/\/test$/, '');
    return parse(read(file)).map((row) => ({ ...row, package: owner }));
  });
}
