// The token endpoints that our token endpoint is compared with. One is oidc-provider, which writes no audit
// event. The other is a bare server that checks a secret and signs with jose.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { bodyOf } from '../read-body.ts';
import { benchClient, realmOf, type SigningAlgorithm, tokenScope } from '../registry.ts';

const [name = '', algorithm = ''] = process.argv.slice(2);
const port = Number(process.env['PORT']);
const issuer = `http://127.0.0.1:${port}`;
const alg = algorithm as SigningAlgorithm;
const path = `/${realmOf(alg)}/oauth2/v2.0/token`;
const { privateKey } = await generateKeyPair(alg, { extractable: true });

type Answer = (...request: Parameters<RequestListener>) => Promise<void>;

async function oidcProvider(): Promise<Answer> {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: benchClient.id,
        client_secret: benchClient.secret,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        // oidc-provider compares this setting with the algorithms of the keys, even if it issues no ID
        // tokens.
        id_token_signed_response_alg: alg,
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg, use: 'sig', kid: 'bench' }] },
    routes: { token: path },
    ttl: { ClientCredentials: 3600 },
    scopes: [tokenScope],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'https://launch.example',
        getResourceServerInfo: () => ({
          scope: tokenScope,
          audience: 'api://clinical-launch',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg, kid: 'bench' } },
        }),
      },
    },
  });
  return provider.callback();
}

function bare(): Answer {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(benchClient.secret);
  return async (request, response) => {
    const form = new URLSearchParams(await bodyOf(request));
    if (!timingSafeEqual(digest(form.get('client_secret') ?? ''), expected)) return void response.end();
    const token = await new SignJWT({ scope: tokenScope, client_id: benchClient.id })
      .setProtectedHeader({ alg, kid: 'bench', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setSubject(benchClient.id)
      .setAudience('api://clinical-launch')
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
    const body = JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 });
    response
      .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
      .end(body);
  };
}

const answer = name === 'bare' ? bare() : await oidcProvider();
createServer((request, response) => void answer(request, response)).listen(port, '127.0.0.1', () =>
  process.stdout.write(`ready ${name}\n`),
);
