import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectPage, referenceOf } from '../edge/own-page.ts';
import { sendBytes } from '../edge/send-bytes.ts';
import { startWafOfFailingEdge } from './failing-edge.ts';

const accept = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8';
const navigation = 'Sec-Fetch-Mode: navigate';
const refused = 'Your request was not accepted';
const notAvailable = 'This page is not available now';

describe('the firewall', () => {
  let waf: Awaited<ReturnType<typeof startWafOfFailingEdge>>;
  beforeAll(async () => {
    waf = await startWafOfFailingEdge();
  });
  afterAll(() => waf.stop());

  const send = (line: string, ...headers: string[]) =>
    sendBytes({ port: waf.port }, [
      `${line} HTTP/1.1`,
      'Host: launch.example',
      'Connection: close',
      ...headers,
    ]);

  // With `sendBytes`, nginx would wait five seconds for the caller to close the connection.
  async function sendTooMuch(headers: Record<string, string>) {
    const body = 'x'.repeat(262_145);
    const response = await fetch(`${waf.url}/oltr/`, { method: 'POST', body, headers });
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  /** Each row contains the status, the heading for a browser, the title for a program, and the request. */
  const answers: readonly (readonly [number, string, string, string, ...string[]])[] = [
    [400, refused, 'Bad Request', 'GET /', `X-Long: ${'x'.repeat(17_000)}`],
    [403, refused, 'Forbidden', 'GET /?q=<script>alert(1)</script>'],
    [405, refused, 'Method Not Allowed', 'TRACE /'],
    [501, notAvailable, 'Not Implemented', 'POST /oltr/', 'Transfer-Encoding: gzip'],
    [502, notAvailable, 'Bad Gateway', 'GET /oltr/'],
    [504, notAvailable, 'Gateway Timeout', 'GET /waits'],
  ];

  it.each(answers)('answers %i with a page to a browser: %s', async (...row) => {
    const [status, heading, , line, ...headers] = row;
    const answer = await send(line, accept, ...headers);
    expect(answer.status).toBe(status);
    expectPage(answer, heading);
  });

  it('answers 413 with a page to a browser that sends a body of more than 256 KiB', async () => {
    const { status, headers, body } = await sendTooMuch({ Accept: 'text/html' });
    expect(status).toBe(413);
    expectPage({ headers, body }, refused);
  });

  it('recognises a browser that sends only Sec-Fetch-Mode', async () => {
    expectPage(await send('GET /oltr/', navigation), notAvailable);
  });

  it.each(answers)('answers %i with problem details to a program: %s', async (...row) => {
    const [status, , title, line, ...headers] = row;
    const answer = await send(line, 'Accept: */*', ...headers);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    const reference = referenceOf(answer);
    expect(reference).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.parse(answer.body)).toEqual({
      type: 'about:blank',
      title,
      status,
      detail: expect.any(String),
      correlationId: reference,
    });
  });

  it('answers 414 with problem details, because nginx reads no headers after a line that is too long', async () => {
    const answer = await send(`GET /?q=${'x'.repeat(17_000)}`, accept);
    expect(answer.status).toBe(414);
    expect(JSON.parse(answer.body)).toMatchObject({ title: 'URI Too Long', status: 414 });
  });

  it('forwards an error of the edge to a browser unchanged', async () => {
    const answer = await send('GET /refuses', accept);
    expect([answer.status, answer.headers.get('content-type'), answer.body]).toEqual([
      502,
      'text/plain',
      'refused',
    ]);
  });
});
