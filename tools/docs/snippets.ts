/**
 * Writes a call of an operation in curl, Node, Python, Java and C#. Each program reads the base address from
 * BASE_URL, an access token from TOKEN, and a JSON body from the file request.json.
 */

export type ExampleCall = {
  /** The HTTP method in upper case. */
  readonly method: string;
  /** The path with its query, percent-encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** If true, the call sends the access token in TOKEN. */
  readonly isAuthorized: boolean;
  readonly form?: Readonly<Record<string, string>> | undefined;
  /** If true, the call sends the JSON in request.json. Its media type is in `headers`. */
  readonly hasJson: boolean;
};

/** Returns a string literal. Its syntax is the same in JavaScript, Python, Java and C#. */
const literal = (value: string) => JSON.stringify(value);
const argument = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;
const encoded = (form: Readonly<Record<string, string>>) => literal(new URLSearchParams(form).toString());

/** Returns lines of code. Omits the parts whose condition is false. */
const lines = (...parts: readonly (string | false | undefined | readonly string[])[]) =>
  parts.filter((part) => typeof part === 'object' || typeof part === 'string').flat();

function curl({ method, target, headers, isAuthorized, form = {}, hasJson }: ExampleCall): string {
  return lines(
    `curl -sS -i -X ${method} "$BASE_URL"${argument(target)}`,
    isAuthorized && '-H "Authorization: Bearer $TOKEN"',
    Object.entries(headers).map((header) => `-H ${argument(header.join(': '))}`),
    Object.entries(form).map((field) => `--data-urlencode ${argument(field.join('='))}`),
    hasJson && '--data-binary @request.json',
  ).join(' \\\n  ');
}

function node({ method, target, headers, isAuthorized, form, hasJson }: ExampleCall): string {
  const sent = lines(
    isAuthorized && '    Authorization: `Bearer ${process.env.TOKEN}`,',
    Object.entries(headers).map(([name, value]) => `    ${literal(name)}: ${literal(value)},`),
  );
  const fields = Object.entries(form ?? {}).map(([name, value]) => `    ${name}: ${literal(value)},`);
  return lines(
    hasJson && "import { readFile } from 'node:fs/promises';\n",
    `const answer = await fetch(process.env.BASE_URL + ${literal(target)}, {`,
    `  method: '${method}',`,
    "  redirect: 'manual',",
    sent.length > 0 && ['  headers: {', ...sent, '  },'],
    hasJson && "  body: await readFile('request.json'),",
    form && ['  body: new URLSearchParams({', ...fields, '  }),'],
    '});',
    'console.log(answer.status, await answer.text());',
  ).join('\n');
}

function python({ method, target, headers, isAuthorized, form, hasJson }: ExampleCall): string {
  return lines(
    'import os',
    'import urllib.request\n',
    `request = urllib.request.Request(os.environ["BASE_URL"] + ${literal(target)}, method="${method}")`,
    isAuthorized && 'request.add_header("Authorization", "Bearer " + os.environ["TOKEN"])',
    Object.entries(headers).map(([name, value]) => `request.add_header(${literal(name)}, ${literal(value)})`),
    hasJson && 'request.data = open("request.json", "rb").read()',
    form && `request.data = ${encoded(form)}.encode()`,
    'with urllib.request.urlopen(request) as answer:',
    '    print(answer.status, answer.read().decode())',
  ).join('\n');
}

function java({ method, target, headers, isAuthorized, form, hasJson }: ExampleCall): string {
  const bodies = 'HttpRequest.BodyPublishers';
  const withForm = form && `${bodies}.ofString(${encoded(form)})`;
  const body = hasJson ? `${bodies}.ofFile(Path.of("request.json"))` : (withForm ?? `${bodies}.noBody()`);
  return lines(
    'import java.net.URI;',
    'import java.net.http.*;',
    hasJson && 'import java.nio.file.Path;',
    '\nclass Call {',
    '  public static void main(String[] args) throws Exception {',
    `    var request = HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + ${literal(target)}))`,
    isAuthorized && '        .header("Authorization", "Bearer " + System.getenv("TOKEN"))',
    Object.entries(headers).map(([name, value]) => `        .header(${literal(name)}, ${literal(value)})`),
    form && '        .header("Content-Type", "application/x-www-form-urlencoded")',
    `        .method("${method}", ${body})`,
    '        .build();',
    '    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    '    System.out.println(answer.statusCode() + " " + answer.body());',
    '  }',
    '}',
  ).join('\n');
}

function csharp({ method, target, headers, isAuthorized, form, hasJson }: ExampleCall): string {
  const { 'Content-Type': jsonType = '', ...others } = headers;
  const fields = Object.entries(form ?? {}).map(([name, value]) => `    ["${name}"] = ${literal(value)},`);
  return lines(
    'using var http = new HttpClient();',
    'string Setting(string name) => Environment.GetEnvironmentVariable(name)!;',
    `var request = new HttpRequestMessage(new HttpMethod("${method}"), Setting("BASE_URL") + ${literal(target)});`,
    isAuthorized && 'request.Headers.Add("Authorization", "Bearer " + Setting("TOKEN"));',
    Object.entries(others).map(
      ([name, value]) => `request.Headers.Add(${literal(name)}, ${literal(value)});`,
    ),
    hasJson && [
      'var json = File.ReadAllText("request.json");',
      `request.Content = new StringContent(json, System.Text.Encoding.UTF8, ${literal(jsonType)});`,
    ],
    form && [
      'request.Content = new FormUrlEncodedContent(new Dictionary<string, string>',
      '{',
      ...fields,
      '});',
    ],
    'var answer = await http.SendAsync(request);',
    'Console.WriteLine($"{(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync()}");',
  ).join('\n');
}

/** The languages of the snippets by name. */
export const snippets: Readonly<Record<string, (call: ExampleCall) => string>> = {
  curl,
  Node: node,
  Python: python,
  Java: java,
  'C#': csharp,
};
