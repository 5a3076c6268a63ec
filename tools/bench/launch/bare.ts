// Minimal servers for comparison on plain `node:http`, without our framework, log, metrics, limits and audit.
// The bench starts this file with the name of one of these servers.
import { createHash, hash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServiceRequestReader } from '@clinical-launch/contracts/fhir/service-request-reader';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { defaultPrefix, listOf, type RedisScripts, shardOfText } from '@clinical-launch/redis/redis-scripts';
import { issueScript, redeemScript } from '@clinical-launch/tickets/redis-tickets';
import { beginChain, nameTicket, readChain } from '@clinical-launch/tickets/ticket-format';
import { createTicketKeys } from '@clinical-launch/tickets/ticket-keys';

const { PORT: port, REDIS_URL: redisUrl = '' } = process.env;
const redis = await connectRedis(redisUrl);
const keys = createTicketKeys(defaultPrefix);
// The sealing key of the demo, which launch-api also uses.
const { launch: sealer } = openSealers({}, ['launch']);
const readServiceRequest = createServiceRequestReader(defaultNamespaces);
/** The hashes of the received tokens, as in a cache of verified tokens. This server verifies no token. */
const verified = new Set<string>();

const run = (...[{ sha1 }, names, args]: Parameters<RedisScripts['run']>) =>
  redis.evalsha(sha1, names.length, ...names, ...args);

type Launch = { readonly context: string; readonly name: string };

/** Parses the payload without validating or sealing it. */
function small(text: string): Launch {
  const payload = JSON.parse(text);
  return { context: JSON.stringify(payload), name: payload.identifier[0].value };
}

function whole(text: string): Launch {
  const read = readServiceRequest(JSON.parse(text));
  if (!('request' in read)) throw new TypeError(JSON.stringify(read.faults));
  return {
    context: sealer.seal('ticket-context', read.request, ['bench']),
    name: read.request.originatingId,
  };
}

const requestLaunchUrl =
  (read: (text: string) => Launch): RequestListener =>
  async (request, response) => {
    const text = await bodyOf(request);
    const token = hash('sha256', request.headers.authorization ?? '', 'base64');
    if (!verified.has(token)) verified.add(token);
    const { context, name } = read(text);
    const claim = hash('sha256', name, 'base64url');
    const correlationId = randomUUID();
    const shard = shardOfText(claim);
    const claimed = keys.claim(shard, claim);
    const ticket = nameTicket(beginChain(correlationId, shard), randomBytes(32));
    const event = JSON.stringify({ id: randomUUID(), correlationid: correlationId, time: new Date() });
    await run(
      issueScript,
      [
        keys.ticket(shard, 'launch-token', ticket),
        keys.notice(shard, 'launch-token', ticket),
        keys.chainRecord(shard, correlationId),
        ...keys.common(shard, 'launch-token'),
        claimed.claims,
      ],
      [
        10_000,
        10_000,
        '',
        ...listOf([
          'correlationid',
          correlationId,
          'context',
          context,
          'challenge',
          String(request.headers['code-challenge']),
        ]),
        '',
        '',
        'OrderTest',
        claimed.field,
        86_400_000,
        0,
        0,
        ...listOf([event]),
      ],
    );
    answer(
      response,
      'application/json',
      JSON.stringify({ url: `http://bench/secureLaunch?launchToken=${ticket}` }),
    );
  };

const secureLaunch =
  (pageOf: (context: string, place: readonly string[]) => string): RequestListener =>
  async (request, response) => {
    const query = new URLSearchParams(request.url?.split('?')[1]);
    const ticket = query.get('launchToken') ?? '';
    const chain = readChain(ticket);
    if (chain === undefined) return void response.writeHead(401).end();
    const { shard, correlationId } = chain;
    const session = nameTicket(chain);
    const event = JSON.stringify({ id: randomUUID(), correlationid: correlationId, time: new Date() });
    const reply = await run(
      redeemScript,
      [
        keys.ticket(shard, 'launch-token', ticket),
        keys.notice(shard, 'launch-token', ticket),
        keys.used(shard, 'launch-token', ticket),
        keys.answer(shard, 'launch-token', randomBytes(16).toString('base64url')),
        keys.chain(shard),
        ...keys.common(shard, 'launch-token'),
        keys.ticket(shard, 'launch-session', session),
      ],
      [
        10_000,
        60_000,
        86_400_000,
        '',
        ...listOf([hash('sha256', query.get('codeVerifier') ?? '', 'base64url')]),
        1_800_000,
        28_800_000,
        0,
        ...listOf([event]),
        // This redemption cannot be repeated, uses no single-use proof, and has no limit of redemptions.
        '',
        '',
        '',
        '',
        '',
      ],
    );
    const [outcome, , , context] = reply as string[];
    if (outcome !== 'redeemed') return void response.writeHead(401).end();
    response.setHeader('Set-Cookie', `launch-session=${session}; HttpOnly; Secure; SameSite=Lax`);
    answer(response, 'text/html; charset=utf-8', pageOf(context ?? '', [correlationId, chain.secret]));
  };

function bodyOf(request: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => resolve(Buffer.concat(chunks).toString()));
  return promise;
}

function answer(response: ServerResponse, type: string, body: string): void {
  response
    .writeHead(200, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
    })
    .end(body);
}

const script = "location.replace(document.querySelector('a').href)";
const policy = `default-src 'none'; script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`;

function page(context: string, place: readonly string[]): string {
  const { launchId } = sealer.open('ticket-context', context, place) as { launchId: string };
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Opening online test requesting</title>
<meta http-equiv="Content-Security-Policy" content="${policy}"><meta http-equiv="refresh" content="0; url=/oltr/${launchId}/">
</head><body><main><h1>Opening</h1><p><a href="/oltr/${launchId}/">Continue</a></p></main><script>${script}</script></body></html>`;
}

const contenders: Readonly<Record<string, RequestListener>> = {
  'launch-small': requestLaunchUrl(small),
  'launch-whole': requestLaunchUrl(whole),
  'gateway-small': secureLaunch(() => 'ok'),
  'gateway-whole': secureLaunch(page),
};
const [name = ''] = process.argv.slice(2);
for (const loaded of [issueScript, redeemScript]) await redis.script('LOAD', loaded.lua);
createServer(contenders[name]).listen(Number(port), '127.0.0.1', () =>
  process.stdout.write(`ready ${name}\n`),
);
