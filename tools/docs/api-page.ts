/** Builds the reference page of an API from its OpenAPI document. */
import type { JsonSchema } from '@clinical-launch/contracts/published/schema';
import type { DescribedAnswer, DescribedAnswers } from '@clinical-launch/http/openapi/answers';
import type { Method, Operation, PathItem } from '@clinical-launch/http/openapi/document';
import { bundleFromString, createConfig } from '@redocly/openapi-core';
import { errorAnswersOf } from './error-answers.ts';
import { refusalWords } from './errors.ts';
import {
  anchorLink,
  code,
  codeBlock,
  contents,
  describe,
  heading,
  line,
  type Page,
  type Part,
  table,
} from './markdown.ts';
import { fieldTable, type Schema, typeOf } from './schema-fields.ts';
import { type ExampleCall, snippets } from './snippets.ts';

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: string;
};
type Media = {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};
type Body = { readonly description?: string; readonly content: Readonly<Record<string, Media>> };

export type OpenApiDocument = {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Checks that every reference of an OpenAPI document resolves, and returns the document. */
export async function bundled(document: JsonSchema): Promise<OpenApiDocument> {
  const source = JSON.stringify(document);
  const { bundle, problems } = await bundleFromString({ source, config: await createConfig({}) });
  const [problem] = problems;
  if (problem !== undefined) throw new Error(problem.message);
  return bundle.parsed as OpenApiDocument;
}

type PlacedOperation = Operation & {
  readonly method: Method;
  readonly path: string;
  readonly address: string;
  readonly all: readonly Parameter[];
  readonly body: Body | undefined;
};

/** Returns the operations of a document in its order. */
export function operationsOf({ paths }: OpenApiDocument): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    (['get', 'post', 'delete'] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])] as unknown as Parameter[];
      const body = operation.requestBody as unknown as Body | undefined;
      return [{ ...operation, method, path, address: `${method.toUpperCase()} ${path}`, all, body }];
    }),
  );
}

const calls =
  'The calls on this page read the address of the platform from `BASE_URL`, an access token from `TOKEN`, and a JSON body from the file `request.json`. Every endpoint can also answer `method_not_allowed`, `no_host` and `fragment_in_target`.';

/**
 * Returns the page of an API: its operations and schemas.
 * @param introduction a document about the API, without its title
 */
export function apiPage(document: OpenApiDocument, introduction: Part = { headings: [], html: '' }): Page {
  const operations = operationsOf(document);
  const name = document.info.title.replace('Clinical Launch: ', '');
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const entries = operations.map(({ operationId, summary, address }) => ({
    depth: 2,
    id: operationId,
    html: `${line(summary)}: ${code(address)}`,
  }));
  const schemas = Object.entries(document.components.schemas).map(
    ([schemaName, schema]) =>
      heading({ depth: 3, id: `schema-${schemaName}`, html: code(schemaName) }) +
      describe(schema.description ?? '') +
      fieldTable(schema),
  );
  const fields = { depth: 2, id: 'schemas', html: 'Schemas' };
  const ends = { depth: 2, id: 'examples', html: 'Examples' };
  const examples = new Examples();
  const html = [
    heading({ depth: 1, id: 'top', html: line(title) }),
    describe(document.info.description),
    describe(calls),
    contents([...introduction.headings.filter(({ depth }) => depth === 2), ...entries, fields, ends]),
    introduction.html,
    ...operations.map((operation) => operationSection(operation, examples)),
    heading(fields),
    ...schemas,
    heading(ends),
    examples.html(),
  ].join('');
  return { title, html };
}

/** The examples of a page. Equal examples appear once, and several operations link to them. */
class Examples {
  readonly #anchors = new Map<string, string>();

  link(text: string): string {
    const anchor = this.#anchors.get(text) ?? `example-${this.#anchors.size + 1}`;
    this.#anchors.set(text, anchor);
    return anchorLink(anchor, 'example');
  }

  html(): string {
    return [...this.#anchors].map(([text, anchor]) => codeBlock(text, anchor)).join('');
  }
}

function operationSection(operation: PlacedOperation, examples: Examples): string {
  const { operationId, summary, description = '', address, all, body, responses } = operation;
  const parameters = all.map((parameter) => [
    code(parameter.name),
    parameter.in,
    parameter.required === true ? 'required' : 'optional',
    [typeOf(parameter.schema), line(parameter.description ?? '')].filter(Boolean).join('. '),
  ]);
  return [
    heading({ depth: 2, id: operationId, html: line(summary) }),
    `<p>${code(address)}</p>\n`,
    describe(description),
    parameters.length === 0 ? '' : part('Parameters') + table(['name', 'in', '', 'value'], parameters),
    body === undefined ? '' : bodySection(body, examples),
    part('Answers'),
    answerTable(responses),
    errorSection(operation, examples),
    snippetSection(operation),
  ].join('');
}

const part = (text: string) => `<h3 class="nhsuk-heading-s">${text}</h3>\n`;
const details = (summary: string, html: string) =>
  `<details><summary>${summary}</summary>\n${html}</details>\n`;

function bodySection({ description = '', content }: Body, examples: Examples): string {
  const [media] = Object.values(content);
  const types = Object.keys(content).map(code).join(' or ');
  const example = media === undefined || isForm(content) ? undefined : exampleOf(media);
  const link =
    example === undefined
      ? ''
      : ` ${code('request.json')}: ${examples.link(JSON.stringify(example, undefined, 2))}.`;
  return [
    part('Request body'),
    `<p>${types}. ${line(description)}${link}</p>\n`,
    media === undefined ? '' : fieldTable(media.schema),
  ].join('');
}

const isForm = (content: Body['content']) => 'application/x-www-form-urlencoded' in content;
const exampleOf = ({ example, examples = {} }: Media): unknown =>
  example ?? Object.values(examples)[0]?.value;

const bodyTypes = (content: DescribedAnswer['content'] = {}) =>
  Object.entries(content).map(([type, media]) => `${code(type)}: ${typeOf((media as Media).schema)}`);

function answerTable(responses: DescribedAnswers): string {
  const rows = Object.entries(responses)
    .filter(([status]) => status < '400')
    .map(([status, { description, content, headers = {} }]) => [
      status,
      line(description),
      Object.keys(headers).map(code).join(', '),
      bodyTypes(content).join(' or ') || 'none',
    ]);
  return table(['status', 'meaning', 'headers', 'body'], rows);
}

function errorSection({ operationId, responses }: PlacedOperation, examples: Examples): string {
  const rows = errorAnswersOf(operationId, responses).map(({ status, code: name, example }) => {
    const [cause, remedy] = refusalWords[name];
    const link = `<a href="/developers/reference/errors#${name}">${code(name)}</a>`;
    return [String(status), link, line(cause), line(remedy), examples.link(example)];
  });
  const failed = Object.entries(responses).filter(([status]) => status >= '400');
  const bodies = new Set(failed.flatMap(([, { content }]) => bodyTypes(content)));
  const format = bodies.size === 0 ? '' : `<p>Body: ${[...bodies].join(' or ')}</p>\n`;
  return part('Errors') + format + table(['status', 'code', 'cause', 'what to do', 'answer'], rows);
}

function snippetSection(operation: PlacedOperation): string {
  const call = callOf(operation);
  const written = Object.entries(snippets).map(([language, write]) =>
    details(language, codeBlock(write(call))),
  );
  return part('Call it') + written.join('');
}

function callOf({ method, path, all, body, security }: PlacedOperation): ExampleCall {
  const examplesIn = (place: Parameter['in']) =>
    Object.fromEntries(
      all.flatMap(({ in: where, name, example }) =>
        where === place && example !== undefined ? [[name, example]] : [],
      ),
    );
  const values = examplesIn('path');
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  const query = new URLSearchParams(examplesIn('query')).toString();
  const [[type, media] = []] = Object.entries(body?.content ?? {});
  const hasForm = type === 'application/x-www-form-urlencoded';
  const hasJson = type !== undefined && !hasForm;
  return {
    method: method.toUpperCase(),
    target: query === '' ? filled : `${filled}?${query}`,
    headers: { ...examplesIn('header'), ...(hasJson ? { 'Content-Type': type } : {}) },
    isAuthorized: security.some((alternative) => 'accessToken' in alternative),
    form: hasForm && media !== undefined ? (exampleOf(media) as Record<string, string>) : undefined,
    hasJson,
  };
}
