import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/** Posts a body with two Authorization headers, which `fetch` would join. Returns the status and body. */
export function postWithTwoAuthorizations(
  url: string,
  { authorization, contentType, body }: { authorization: string; contentType: string; body: string },
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': contentType,
      Authorization: [authorization, 'Bearer of.somebody.else'],
      Connection: 'close',
    };
    request(url, { method: 'POST', headers }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode, body: answer }), reject);
    })
      .once('error', reject)
      .end(body);
  });
}
