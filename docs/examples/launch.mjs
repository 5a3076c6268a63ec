// Requests a launch URL as a PMS backend does, in Node 20 or newer.
// `node launch.mjs payload.json` prints the address for the browser.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const {
  BASE_URL = 'http://localhost:8080',
  CLIENT_ID = 'pms-demo',
  CLIENT_SECRET = 'pms-demo-secret',
} = process.env;
if (process.argv.length !== 3) {
  console.error('Usage: node launch.mjs payload.json');
  process.exit(2);
}

/** Posts a body and returns the answer. @throws Error with the status and the reference for support */
async function post(url, init) {
  const answer = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(10_000), ...init });
  if (answer.ok) return answer;
  const reference = answer.headers.get('X-Correlation-Id');
  throw new Error(`${answer.status}, reference ${reference}: ${await answer.text()}`);
}

// 1. Request an access token. Reuse it until it expires.
const tokenAnswer = await post(`${BASE_URL}/idp/demo/oauth2/v2.0/token`, {
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    scope: 'api://clinical-launch/.default',
  }),
});
const { access_token: token } = await tokenAnswer.json();

// 2. Create the PKCE verifier and its challenge.
const verifier = randomBytes(64).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');

// 3. Send the payload, with a new identifier for the request.
const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
payload.identifier[0].value = randomUUID();
const answer = await post(`${BASE_URL}/AccessApi/RequestLaunchUrl`, {
  headers: {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Code-Challenge': challenge,
  },
  body: JSON.stringify(payload),
});
const { url } = await answer.json();
console.error(`launch ${answer.headers.get('X-Correlation-Id')}`);

// 4. Print the address for the user's browser. It is valid for ten seconds and opens once.
console.log(`${url}&codeVerifier=${verifier}`);
