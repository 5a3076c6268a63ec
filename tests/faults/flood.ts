import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createPkcePair } from '@clinical-launch/pms-client';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { createCaller } from './caller.ts';
import { openEdge } from './edge.ts';
import { openJournal } from './journal.ts';
import { type Ledger, readLedger } from './ledger.ts';
import { fetchAccessToken, playLaunch, tokenRequest } from './open-launch.ts';
import type { HttpAnswer } from './send-request.ts';
import type { System } from './system.ts';

/** The number of answers with each status. */
export type Statuses = Record<number, number>;

export type Flood = {
  /** Answers to unauthenticated requests. */
  readonly strangers: Statuses;
  /** Answers to a registered client, by step. */
  readonly client: Readonly<Record<'token' | 'issue' | 'redeem', Statuses>>;
};

type Edge = ReturnType<typeof openEdge>;
type Sent = Parameters<Edge['send']>[0];

/** Every kind of request that is refused before its caller or launch is known. */
const strangersRequests: readonly Sent[] = [
  { path: '/secureLaunch?launchToken=a&codeVerifier=b' },
  { path: '/AccessApi/RequestLaunchUrl', body: '{}' },
  {
    path: tokenRequest.path,
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      // Uses a different client from the launching client. Wrong secrets from the shared address would delay
      // the launching client.
      client_id: 'pms-other',
      client_secret: 'guessed',
    }),
  },
  { path: '/idp/demo/desktop/oauth2/v2.0/authorize?client_id=partner-demo' },
  { path: '/audit/events' },
];

const lanes = 32;
const launchesPerSecond = 20;

/**
 * Sends unauthenticated requests as fast as they are answered: half from one address, half from new
 * addresses. At the same time, a registered client at the shared address launches at a steady rate.
 */
export async function floodWithLaunches(system: System, forMs: number): Promise<Flood> {
  const edge = openEdge(system.processes);
  const until = Date.now() + forMs;
  const flood: Flood = { strangers: {}, client: { token: {}, issue: {}, redeem: {} } };
  try {
    await Promise.all([
      ...Array.from({ length: lanes }, (_, lane) => sendAsStranger({ edge, lane, until, flood })),
      launchSteadily({ edge, until, flood }),
    ]);
    return flood;
  } finally {
    edge.close();
  }
}

/** The number of connections that send almost a whole body and wait. */
const stalledConnections = 4000;

/**
 * Keeps 4,000 connections open that send almost a whole body: half of them payloads with the token of another
 * client, half of them forms of strangers. Opens a connection again one second after the server closed it. At
 * the same time, the client launches at a steady rate.
 */
export async function stallWithLaunches(system: System, forMs: number) {
  const edge = openEdge(system.processes);
  const until = Date.now() + forMs;
  const flood: Flood = { strangers: {}, client: { token: {}, issue: {}, redeem: {} } };
  const open = new Set<Socket>();
  const targets = [system.replicasOf('launch-api')[0], system.replicasOf('launch-gateway')[0]];
  const memory = targets.map(() => 0);
  const other = new URLSearchParams(tokenRequest.body);
  other.set('client_id', 'pms-other');
  other.set('client_secret', 'pms-other-secret');
  try {
    const { access_token: token } = JSON.parse((await edge.send({ ...tokenRequest, body: other })).body);
    const heads = [
      `POST /AccessApi/RequestLaunchUrl HTTP/1.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 262144`,
      'POST /secureLaunch HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 2048',
    ];
    const bodies = [' '.repeat(260_000), 'a'.repeat(2000)];
    const stall = (lane: number) => {
      const { port } = new URL(targets[lane % 2]?.url ?? '');
      const socket = connect(Number(port), '127.0.0.1');
      open.add(socket);
      socket
        .on('error', () => undefined)
        .on('data', (answer) => {
          const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString('latin1'))?.[1]);
          flood.strangers[status] = (flood.strangers[status] ?? 0) + 1;
        });
      socket.on('close', () => {
        open.delete(socket);
        if (Date.now() < until) setTimeout(() => stall(lane), 1000);
      });
      socket.write(`${heads[lane % 2]}\r\nHost: x\r\n\r\n${bodies[lane % 2]}`);
    };
    for (let lane = 0; lane < stalledConnections; lane += 1) stall(lane);
    const watching = setInterval(() => {
      targets.forEach((target, at) => (memory[at] = Math.max(memory[at] ?? 0, target?.memory() ?? 0)));
    }, 250);
    await launchSteadily({ edge, until, flood }).finally(() => clearInterval(watching));
    return { ...flood, open: open.size, megabytes: memory.map(Math.round) };
  } finally {
    for (const socket of open) socket.destroy();
    edge.close();
  }
}

/**
 * Lets users order a test at the same time: each requests a token and a launch, opens the launch, and chooses,
 * reviews, submits and reads an order. Repeats a request that is answered 503, as a user does. Resolves with
 * the records of all requests.
 */
export async function orderAtOnce(system: System, users: number): Promise<Ledger> {
  const name = randomUUID();
  const journalPath = join(system.directory, `${name}.jsonl`);
  const edge = openEdge(system.processes);
  const journal = await openJournal(journalPath);
  // Each user has an address, because refusals are limited for an address.
  const callerAt = (address: string) => {
    const send: Edge['send'] = (request) =>
      edge.send({ ...request, headers: { ...request.headers, 'X-Forwarded-For': address } });
    return createCaller({ edge: { ...edge, send }, journal });
  };
  const plan = { hasOrder: true, isAmended: false, isRepeated: false, hesitate: async () => {} };
  try {
    const orders = Array.from({ length: users }, async (_, user) => {
      const caller = callerAt(`10.0.${user >> 8}.${user % 256}`);
      const token = await fetchAccessToken(caller);
      await playLaunch(caller, token, { ...plan, launch: `${name}-${user}` });
    });
    await Promise.all(orders);
  } finally {
    edge.close();
    await journal.close();
  }
  return readLedger(journalPath);
}

type Sender = { readonly edge: Edge; readonly until: number; readonly flood: Flood };

async function sendAsStranger({ edge, lane, until, flood }: Sender & { lane: number }): Promise<void> {
  for (let turn = lane; Date.now() < until; turn += 1) {
    const request = strangersRequests[turn % strangersRequests.length];
    if (request === undefined) return;
    const address =
      lane % 2 === 0
        ? '192.0.2.1'
        : `10.${Math.floor(turn / 65_536) + lane}.${(turn >> 8) % 256}.${turn % 256}`;
    count(flood.strangers, await edge.send({ ...request, headers: { 'X-Forwarded-For': address } }));
  }
}

async function launchSteadily({ edge, until, flood }: Sender): Promise<void> {
  const headers = { 'X-Forwarded-For': '192.0.2.1' };
  const under: Promise<void>[] = [];
  const launchOnce = async () => {
    const granted = count(flood.client.token, await edge.send({ ...tokenRequest, headers }));
    if (granted.status !== 200) return;
    const { access_token: token } = JSON.parse(granted.body);
    const { codeVerifier, codeChallenge } = createPkcePair();
    const issued = count(
      flood.client.issue,
      await edge.send({
        path: '/AccessApi/RequestLaunchUrl',
        headers: { ...headers, Authorization: `Bearer ${token}`, 'Code-Challenge': codeChallenge },
        body: JSON.stringify(aServiceRequest()),
      }),
    );
    if (issued.status !== 200) return;
    const { pathname, search } = new URL(JSON.parse(issued.body).url);
    count(
      flood.client.redeem,
      await edge.send({ path: `${pathname}${search}&codeVerifier=${codeVerifier}`, headers }),
    );
  };
  while (Date.now() < until) {
    under.push(launchOnce());
    await new Promise((resolve) => setTimeout(resolve, 1000 / launchesPerSecond));
  }
  await Promise.all(under);
}

function count(statuses: Statuses, answer: HttpAnswer): HttpAnswer {
  statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
  return answer;
}
