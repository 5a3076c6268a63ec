import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The algorithms for signing tokens. Each algorithm has a realm with one client. */
export const signingAlgorithms = ['RS256', 'ES256', 'EdDSA'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

export const benchClient = { id: 'bench', secret: 'the-secret-of-the-bench' };
export const tokenScope = 'api://clinical-launch/.default';

/** Returns the realm whose tokens are signed with an algorithm. */
export const realmOf = (algorithm: SigningAlgorithm): string => algorithm.toLowerCase();

/** Writes the registry of the bench to a new directory. */
export async function writeRegistry() {
  const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-bench-'));
  const path = join(directory, 'registry.json');
  const client = {
    clientId: benchClient.id,
    name: 'The load of the bench',
    secrets: [{ sha256: createHash('sha256').update(benchClient.secret).digest('hex') }],
    scopes: ['ocs-launch.write'],
    practices: 'any',
  };
  const realms = signingAlgorithms.map((signingAlgorithm) => ({
    realm: realmOf(signingAlgorithm),
    signingAlgorithm,
    clients: [client],
  }));
  writeFileSync(path, JSON.stringify({ realms }));
  return { path, stop: async () => rmSync(directory, { recursive: true, force: true }) };
}

/** Returns a token request of the bench's client with the client credentials grant. */
export function tokenRequest(algorithm: SigningAlgorithm) {
  return {
    path: `/${realmOf(algorithm)}/oauth2/v2.0/token`,
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: benchClient.id,
      client_secret: benchClient.secret,
      scope: tokenScope,
    }).toString(),
  };
}

/** Requests an access token. @throws Error if no token is issued */
export async function fetchToken(issuerUrl: string, algorithm: SigningAlgorithm): Promise<string> {
  const { path, body } = tokenRequest(algorithm);
  const response = await fetch(`${issuerUrl}${path}`, {
    method: 'POST',
    body: new URLSearchParams(body),
  });
  const answer = (await response.json()) as { access_token?: string };
  if (answer.access_token === undefined) throw new Error(`No token was issued: ${JSON.stringify(answer)}`);
  return answer.access_token;
}
