import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The parts of an OpenAPI document that the tests read. */
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>> & { parameters?: Parameter[] }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, Header>>;
  };
};
type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly example?: string;
};
type Header = { readonly required?: boolean; readonly schema: { readonly type?: string } };
type Media = {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};
type Answer = {
  readonly headers?: Readonly<Record<string, Header | { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, Media>>;
};
type Described = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Answer>>;
};

export const methods = ['get', 'post', 'delete'] as const;

/** An operation of a document, with the parameters of its path. */
export type Operation = Described & {
  readonly method: (typeof methods)[number];
  readonly path: string;
  readonly document: OpenApi;
};

/** Returns the operations of a document. */
export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const described = item[method] as Described | undefined;
      if (described === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(described.parameters ?? [])];
      return [{ ...described, parameters, method, path, document }];
    }),
  );
}

/** The parts of a request. Its body is a form or a JSON value. */
export type Sent = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>> | undefined;
  readonly json?: unknown;
};

/** Returns a request that consists of the examples of an operation. */
export function exampleOf({ parameters = [], requestBody }: Operation, which?: string): Sent {
  const named = (place: Parameter['in']) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place && parameter.example !== undefined)
        .map(({ name, example = '' }) => [name, example]),
    );
  const sent = { path: named('path'), query: named('query'), headers: named('header') };
  const [body] = Object.entries(requestBody?.content ?? {});
  if (body === undefined) return sent;
  const [type, { example, examples = {} }] = body;
  const value = example ?? (which === undefined ? Object.values(examples)[0] : examples[which])?.value;
  return type === 'application/x-www-form-urlencoded'
    ? { ...sent, form: value as Record<string, string> }
    : { ...sent, json: value, headers: { ...sent.headers, 'Content-Type': type } };
}

/** Sends a request of an operation, without following redirects. */
export function send(url: string, { path, method }: Operation, sent: Sent): Promise<Response> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(sent.path[name] ?? ''),
  );
  const query = new URLSearchParams(sent.query).toString();
  return fetch(`${url}${filled}${query === '' ? '' : `?${query}`}`, {
    method: method.toUpperCase(),
    headers: sent.headers,
    redirect: 'manual',
    ...(sent.form === undefined ? {} : { body: new URLSearchParams(sent.form) }),
    ...(sent.json === undefined ? {} : { body: JSON.stringify(sent.json) }),
  });
}

/** Returns the differences between an answer and its description in the document. */
export async function differencesOf(response: Response, operation: Operation): Promise<string[]> {
  const { document, responses } = operation;
  const answer = responses[response.status] ?? (response.status === 500 ? responses['default'] : undefined);
  const text = await response.text();
  if (answer === undefined) return [`status ${response.status} is not described: ${text}`];
  const headers = Object.entries(answer.headers ?? {}).flatMap(([name, header]) =>
    headerDifferences(name, response.headers.get(name), dereferenced(header, document)),
  );
  return [...headers, ...bodyDifferences(text, { response, answer, document })];
}

function dereferenced(header: Header | { readonly $ref: string }, { components }: OpenApi): Header {
  if (!('$ref' in header)) return header;
  const found = components.headers[header.$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new TypeError(`${header.$ref} does not exist`);
  return found;
}

function headerDifferences(name: string, value: string | null, { required, schema }: Header): string[] {
  if (value === null) return required === true ? [`${name} is missing`] : [];
  const checks = ajv.compile(schema);
  return checks(schema.type === 'integer' ? Number(value) : value) ? [] : [`${name} is ${value}`];
}

type Body = { readonly response: Response; readonly answer: Answer; readonly document: OpenApi };

function bodyDifferences(text: string, { response, answer, document }: Body): string[] {
  if (answer.content === undefined) return text === '' ? [] : [`the body must be empty, but is: ${text}`];
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  const media = answer.content[type];
  if (media === undefined) return [`media type ${type} is not described`];
  if (!type.endsWith('json')) return text === '' ? ['the body is empty'] : [];
  const validate = closedValidator(media.schema, document);
  const values = type.endsWith('ndjson') ? text.trim().split('\n') : [text];
  return values.flatMap((value) =>
    validate(JSON.parse(value))
      ? []
      : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message} in ${text}`),
  );
}

const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  formats: { uri: (value: string) => URL.canParse(value), date: true, 'date-time': true, password: true },
});
const validators = new Map<string, ValidateFunction>();

/** Returns a validator that rejects members not in the schema. */
function closedValidator(schema: object, { components }: OpenApi): ValidateFunction {
  const whole = JSON.stringify(closed({ ...schema, $defs: components.schemas }));
  const known = validators.get(whole);
  if (known !== undefined) return known;
  const made = ajv.compile(JSON.parse(whole.replaceAll('#/components/schemas/', '#/$defs/')));
  validators.set(whole, made);
  return made;
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const isOpenObject =
    parts['type'] === 'object' && 'properties' in parts && !('additionalProperties' in parts);
  return isOpenObject ? { ...parts, additionalProperties: false } : parts;
}
