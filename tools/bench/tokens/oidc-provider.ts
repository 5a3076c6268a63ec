// The token endpoint of oidc-provider, which ours is compared with. It writes no audit event.
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { benchClient, realmOf, type SigningAlgorithm, tokenScope } from '../registry.ts';

const [algorithm = ''] = process.argv.slice(2);
const port = Number(process.env['PORT']);
const issuer = `http://127.0.0.1:${port}`;
const alg = algorithm as SigningAlgorithm;
const path = `/${realmOf(alg)}/oauth2/v2.0/token`;
const { privateKey } = await generateKeyPair(alg, { extractable: true });

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
createServer(provider.callback()).listen(port, '127.0.0.1', () =>
  process.stdout.write('ready oidc-provider\n'),
);
