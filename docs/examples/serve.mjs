// A practice management system (PMS) that runs all the time, in Node 20 or newer without packages.
// GET /launch orders tests for the patient, and GET /amend changes the first request: both redirect the browser.
// POST /callbacks receives the order documents. The PMS passes a conformance run (docs/guides/twin.md).
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const {
  BASE_URL = 'http://localhost:8080',
  CLIENT_ID = 'pms-demo',
  CLIENT_SECRET = 'pms-demo-secret',
  CALLBACK_SECRET = '',
  PORT = '9000',
} = process.env;
const payload = readFileSync(new URL('minimal.json', import.meta.url), 'utf8');

// A real PMS stores these in its database.
const requestIds = [];
const callbackIds = new Set();
const documents = new Map();

class Refused extends Error {
  constructor(answer) {
    super(`${answer.status}, reference ${answer.headers.get('X-Correlation-Id')}`);
    this.status = answer.status;
  }
}

/** Posts a body and returns the JSON of the answer. @throws Refused */
async function post(path, body, headers = {}) {
  const signal = AbortSignal.timeout(10_000);
  const answer = await fetch(BASE_URL + path, { method: 'POST', body, headers, signal });
  if (!answer.ok) throw new Refused(answer);
  return answer.json();
}

let token;

/** Returns the access token. Launches at the same time share one token request. */
function accessToken() {
  if (token === undefined || Date.now() > token.renewAt) {
    const form = {
      grant_type: 'client_credentials',
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      scope: 'api://clinical-launch/.default',
    };
    const requested = post('/idp/demo/oauth2/v2.0/token', new URLSearchParams(form));
    token = { requested, renewAt: Infinity };
    requested.then(
      ({ expires_in: seconds }) => Object.assign(token, { renewAt: Date.now() + (seconds - 60) * 1000 }),
      () => (token = undefined),
    );
  }
  return token.requested.then((answer) => answer.access_token);
}

/** Returns the address that the user's browser opens. */
async function launchUrl(action, requestId) {
  const verifier = randomBytes(64).toString('base64url');
  const serviceRequest = JSON.parse(payload);
  serviceRequest.extension[0].valueString = action;
  serviceRequest.identifier[0].value = requestId;
  const { url } = await post('/AccessApi/RequestLaunchUrl', JSON.stringify(serviceRequest), {
    Authorization: `Bearer ${await accessToken()}`,
    'Content-Type': 'application/json',
    'Code-Challenge': createHash('sha256').update(verifier).digest('base64url'),
  });
  return `${url}&codeVerifier=${verifier}`;
}

/**
 * Returns the launch URL of an action. If the answer is 401, requests the URL once more, with a new token.
 * Never repeats a request after any other refusal.
 */
async function launch(action) {
  const requestId = action === 'UpdateTest' ? requestIds[0] : randomUUID();
  const url = await launchUrl(action, requestId).catch((error) => {
    if (error.status !== 401) throw error;
    token = undefined;
    return launchUrl(action, requestId);
  });
  if (action === 'OrderTest') requestIds.push(requestId);
  return url;
}

/** Returns true if the signature and the time of a callback are right (Standard Webhooks). */
function isAuthentic({ 'webhook-id': id, 'webhook-timestamp': sentAt, 'webhook-signature': header }, body) {
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) <= 300)) return false;
  const key = Buffer.from(CALLBACK_SECRET.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${sentAt}.`).update(body).digest();
  // While a secret is being replaced, the header contains two signatures.
  return String(header)
    .split(' ')
    .map((one) => Buffer.from(one.replace('v1,', ''), 'base64'))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

/** Stores a document once, and never replaces a newer version. Returns the status of the answer. */
async function receive(request) {
  const body = await buffer(request);
  if (!isAuthentic(request.headers, body)) return 400;
  const { data } = JSON.parse(body.toString());
  if (!callbackIds.has(request.headers['webhook-id'])) {
    callbackIds.add(request.headers['webhook-id']);
    const stored = documents.get(data.orderGuid);
    if (stored === undefined || stored.orderVersion < data.orderVersion) documents.set(data.orderGuid, data);
  }
  return 204;
}

const actions = { '/launch': 'OrderTest', '/amend': 'UpdateTest' };

const server = createServer(async (request, response) => {
  try {
    const action = actions[request.url];
    if (request.method === 'POST') return response.writeHead(await receive(request)).end();
    if (action === undefined) return response.writeHead(404).end();
    const headers = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
    response.writeHead(303, { ...headers, Location: await launch(action) }).end();
  } catch (error) {
    // The user must launch again. The PMS then requests a new launch URL.
    // An OrderTest then has a new identifier.
    response.writeHead(502, { 'Content-Type': 'text/plain' }).end(`The launch failed: ${error.message}`);
  }
});
server.listen(PORT, '127.0.0.1', () => console.log(`ready http://127.0.0.1:${server.address().port}`));
