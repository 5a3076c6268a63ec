import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startEdgeBefore } from './running-edge.ts';

let edge: Awaited<ReturnType<typeof startEdgeBefore>>;
let answers: ((response: ServerResponse) => void) | undefined;
const waiting: ServerResponse[] = [];
const service = createServer((_request, response) => {
  if (answers === undefined) waiting.push(response);
  else answers(response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  edge = await startEdgeBefore({ port: (service.address() as AddressInfo).port, environment: {} });
});
afterAll(async () => {
  await edge.stop();
  service.closeAllConnections();
  service.close();
});

it('the edge is not ready until a replica of every service has passed a health check', async () => {
  await until(() => waiting.length > 0);
  expect(edge.isReady()).toBe(false);
  answers = (response) => response.end();
  for (const response of waiting) response.end();
  await until(() => edge.isReady());
});

it('the edge is not ready once the health checks fail', async () => {
  answers = (response) => response.writeHead(503).end();
  await until(() => !edge.isReady());
});
