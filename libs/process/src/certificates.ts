import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import { withTimeout } from '@clinical-launch/runtime/clock';
import { ConfigurationError, type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import { startLoop } from '@clinical-launch/runtime/loop';
import { meter } from '@clinical-launch/runtime/metrics';
import type { RunningPart } from './parts.ts';

const setting = 'WATCHED_CERTIFICATES';

export const certificateSettings = Type.Object({
  [setting]: optionalText({
    title:
      'Certificates whose expiry is a metric with an alert: files in PEM and TLS servers such as `edge:8443`, separated by commas.',
  }),
});

const everyMs = 3_600_000;
const connectWithinMs = 5000;

/**
 * Reads the list of watched certificates: PEM files (`/run/certificate.pem`) and TLS servers (`edge:8443`),
 * separated by commas. @throws ConfigurationError
 */
export function readWatchedCertificates(environment: Environment): readonly string[] {
  const { [setting]: text = '' } = readEnvironment(certificateSettings, environment);
  const places = String(text)
    .split(',')
    .map((place) => place.trim())
    .filter((place) => place !== '');
  if (places.every((place) => place.startsWith('/') || /^[^/\s]+:\d{1,5}$/.test(place))) return places;
  throw new ConfigurationError([`${setting} must be absolute paths or host:port, separated by commas`]);
}

/**
 * Observes the expiry of certificates. Reads them at the start and then only every hour, because reading a
 * server's certificate needs a connection. If a certificate cannot be read, the metric keeps the last known
 * expiry.
 */
export function watchCertificates(places: readonly string[], logger: Logger): RunningPart {
  if (places.length === 0) return { checks: {}, stop: async () => undefined };
  const expiry = meter().createObservableGauge('clinical_launch.certificate.expiry', {
    description: 'The time at which a certificate expires, as Unix time',
    unit: 's',
  });
  const read = new Map<string, number>();
  expiry.addCallback((result) => {
    for (const [name, at] of read) result.observe(at / 1000, { 'clinical_launch.certificate.name': name });
  });
  const readAll = async () => {
    await Promise.all(
      places.map(async (place) => {
        try {
          read.set(place, await (place.startsWith('/') ? endOfFile(place) : endOfServer(place)));
        } catch (error) {
          logger.warn({ certificate: place, err: error }, 'a certificate could not be read');
        }
      }),
    );
  };
  const loop = startLoop({
    work: readAll,
    everyMs,
    ref: false,
    onFailure: (error) => logger.warn({ err: error }, 'the certificates could not be read'),
  });
  // A server that does not answer must not delay the stop.
  return { checks: {}, stop: async () => void loop.stop() };
}

async function endOfFile(path: string): Promise<number> {
  return Date.parse(new X509Certificate(await readFile(path)).validTo);
}

async function endOfServer(place: string): Promise<number> {
  // Loads the module only here, because most processes watch no server.
  const { connect } = await import('node:tls');
  const end = place.lastIndexOf(':');
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const host = place.slice(0, end);
  // Accepts invalid certificates, such as expired certificates, because only the expiry is read.
  const socket = connect({ host, port: Number(place.slice(end + 1)), rejectUnauthorized: false }, () =>
    resolve(Date.parse(socket.getPeerCertificate().valid_to)),
  );
  socket.on('error', reject);
  return await withTimeout(
    connectWithinMs,
    promise,
    () => new Error('The server did not answer in time'),
  ).finally(() => socket.destroy());
}
