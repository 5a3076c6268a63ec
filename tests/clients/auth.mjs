// Runs after the block of the guide, which declares `provider`. Calls the library as the framework's `signIn` does.
import { createServer } from 'node:http';
import { Auth, skipCSRFCheck } from '@auth/core';

const origin = `http://localhost:${process.env.PORT}`;
const config = {
  basePath: '/auth',
  providers: [provider],
  secret: 'a secret',
  trustHost: true,
  skipCSRFCheck,
};

async function answer(request) {
  const url = new URL(request.url, origin);
  const headers = new Headers({ cookie: request.headers.cookie ?? '' });
  if (url.pathname !== '/launch')
    return Auth(new Request(url.pathname === '/' ? `${origin}/auth/session` : url, { headers }), config);
  const signIn = `${origin}/auth/signin/clinical-launch?launch=${url.searchParams.get('launch')}`;
  headers.set('Content-Type', 'application/x-www-form-urlencoded');
  return Auth(new Request(signIn, { method: 'POST', headers, body: 'callbackUrl=/' }), config);
}

createServer(async (request, response) => {
  const { status, headers, body } = await answer(request);
  response.writeHead(status, [...headers].flat());
  for await (const chunk of body ?? []) response.write(chunk);
  response.end();
}).listen(process.env.PORT, () => console.log('ready'));
