import { copyFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeCertificate, type RunningEdge, startEdge } from './running-edge.ts';
import { sendBytes } from './send-bytes.ts';

describe('the edge whose certificate file changes', () => {
  const first = makeCertificate();
  const second = makeCertificate();
  let edge: RunningEdge;
  let script: ReturnType<RunningEdge['watchCertificate']>;
  let output = '';

  beforeAll(async () => {
    edge = await startEdge({ EDGE_CERTIFICATE: first.path, PUBLIC_URL: 'https://launch.example' });
    script = edge.watchCertificate();
    script.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await until(() => output.includes('are watched'));
  });
  afterAll(async () => {
    script.kill('SIGKILL');
    await edge.stop();
    for (const { remove } of [first, second]) remove();
  });

  const servedCertificate = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ port: edge.tls, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? '');
        socket.destroy();
      }).once('error', reject);
    });
  const oltr = ['GET /oltr/ HTTP/1.1', 'Host: launch.example', 'Connection: close'];

  it('keeps the old certificate and logs an error if the new file cannot be used', async () => {
    writeFileSync(first.path, second.ca);
    await until(() => output.includes('"level":50'));
    expect(await servedCertificate()).toBe(first.ca);
    expect(output).not.toContain('BEGIN');
  });

  it('serves the new certificate without a restart or a failed request', async () => {
    const statuses = new Set<number>();
    copyFileSync(second.path, first.path);
    await until(async () => {
      statuses.add((await sendBytes({ port: edge.tls, ca: first.ca + second.ca }, oltr)).status);
      return (await servedCertificate()) === second.ca;
    });
    statuses.add((await sendBytes({ port: edge.tls, ca: second.ca }, oltr)).status);
    expect([...statuses]).toEqual([200]);
  });
});
