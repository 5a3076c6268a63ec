import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { createAdminApp, listen } from '@clinical-launch/http/server';
import { metrics } from '@clinical-launch/runtime/open-telemetry';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { until } from '@clinical-launch/testing/until';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readWatchedCertificates, watchCertificates } from '../src/certificates.ts';
import { startMetrics } from '../src/process-metrics.ts';
import { readTelemetry } from '../src/telemetry-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-certificates-'));
const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '30'];
execFileSync(
  'openssl',
  ['req', ...kind, '-keyout', key, '-out', certificate, '-subj', '/CN=launch.example'],
  {
    stdio: 'ignore',
  },
);
const stops: (() => unknown)[] = [() => metrics.disable()];
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  rmSync(folder, { recursive: true });
});

describe('watched certificates', () => {
  it('in a file or on a server have a metric of their expiry, even if the host name does not match', async () => {
    const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }).listen(0);
    stops.push(() => server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { logger, lines } = createRecordedLogger();
    const measured = startMetrics({ service: 'test', telemetry: readTelemetry({}), logger });
    const admin = await listen(createAdminApp({}, measured.answer), { port: 0, host: '127.0.0.1' });
    stops.push(
      () => measured.stop(),
      () => admin.stop(),
    );
    const places = [certificate, `127.0.0.1:${port}`, join(folder, 'none.pem')];
    const watched = watchCertificates(
      readWatchedCertificates({ WATCHED_CERTIFICATES: places.join(', ') }),
      logger,
    );
    stops.push(() => watched.stop());

    const scrape = async () => {
      const text = await (await fetch(`http://127.0.0.1:${admin.port}/metrics`)).text();
      return [...text.matchAll(/^clinical_launch_certificate_expiry_seconds\{.+="(.+)"\} (\d+)$/gm)];
    };
    await until(async () => (await scrape()).length === 2);
    const read = await scrape();
    expect(new Set(read.map(([, name]) => name))).toEqual(new Set(places.slice(0, 2)));
    const { validTo } = new X509Certificate(readFileSync(certificate));
    for (const [, , at] of read) expect(Number(at) * 1000).toBe(Date.parse(validTo));
    expect(lines.join('')).toContain('a certificate could not be read');
  });

  it.each(['edge', 'certificate.pem', 'https://launch.example', 'edge:443 other:443'])(
    'must not be set to %s',
    (text) => {
      expect(() => readWatchedCertificates({ WATCHED_CERTIFICATES: text })).toThrow('WATCHED_CERTIFICATES');
    },
  );

  it('are an empty list by default', () => {
    expect(readWatchedCertificates({})).toEqual([]);
  });
});
