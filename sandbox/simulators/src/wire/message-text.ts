/** The maximum number of shown characters. Longer bodies are HTML pages, which the browser shows better. */
const maxBodyLength = 8000;

/** Returns an HTTP message as text: JSON with line breaks, and a form with one field per line. */
export function messageText(
  start: string,
  headers: Iterable<readonly [string, string]>,
  body: string,
): string {
  const fields = [...headers].map(([name, value]) => [spelled(name), value] as const);
  const type = fields.find(([name]) => name === 'Content-Type')?.[1] ?? '';
  const lines = [start, ...fields.map(([name, value]) => `${name}: ${value}`)];
  return body === '' ? lines.join('\n') : `${lines.join('\n')}\n\n${cut(shownBody(type, body))}`;
}

/** Capitalises the name of a header, because `fetch` reports names in lower case. */
const spelled = (name: string) => name.replace(/(?<![A-Za-z])[a-z]/g, (letter) => letter.toUpperCase());

function shownBody(type: string, body: string): string {
  if (/\bjson\b/.test(type)) return indented(body);
  if (!type.startsWith('application/x-www-form-urlencoded')) return body;
  return [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`).join('\n');
}

/** Returns JSON with line breaks, and any other text unchanged. */
export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const cut = (text: string) =>
  text.length <= maxBodyLength
    ? text
    : `${text.slice(0, maxBodyLength)}\n… ${text.length - maxBodyLength} characters more`;
