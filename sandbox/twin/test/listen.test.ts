import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callbackSecretPurpose } from '@clinical-launch/contracts/registry';
import { createPurposeSealer, demoSealingKey } from '@clinical-launch/crypto/sealing-purposes';
import { signatureHeaders } from '@clinical-launch/crypto/webhook-signature';
import { listen } from '@clinical-launch/http/server';
import { type Platform, startPlatform } from '@clinical-launch/platform/platform';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackSecretOf } from '../src/vendor-client.ts';
import { startCallbackReceiver } from './callback-receiver.ts';

const client = 'vendor';
const secret = 'the-secret-of-the-vendor';
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const clock = new TestClock(Date.now());
const folder = mkdtempSync(join(tmpdir(), 'listen-'));
const registryFile = join(folder, 'registry.json');

let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let starting: Awaited<ReturnType<typeof listen>>;
let platform: Platform | undefined;
let url: string;
let running: ChildProcess | undefined;
let output = '';

beforeAll(async () => {
  const sealer = createPurposeSealer('callback', [demoSealingKey]);
  const sealed = sealer.seal(callbackSecretPurpose, callbackSecretOf(client), []);
  const vendor = {
    clientId: client,
    name: client,
    secrets: [{ sha256: createHash('sha256').update(secret).digest('hex') }],
    scopes: ['ocs-launch.write'],
    practices: 'any',
    sandbox: true,
    callback: { url: `\${PUBLIC_URL}/developers/callbacks/${client}`, secrets: [{ sealed }] },
  };
  writeFileSync(registryFile, JSON.stringify({ realms: [{ realm: 'demo', clients: [vendor] }] }));
  receiver = await startCallbackReceiver();
  starting = await listen((_request, response) => void response.writeHead(503).end(), {
    port: 0,
    host: '127.0.0.1',
  });
  url = `http://127.0.0.1:${starting.port}`;
});
afterAll(async () => {
  await receiver.stop();
  await platform?.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => void running?.kill('SIGKILL'));

/** Starts `clinical-launch-twin listen`, and collects what it prints in `output`. */
function startListening(clientSecret = secret) {
  output = '';
  const args = ['listen', '--client', client, '--url', url, '--forward-to', receiver.url];
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, CLIENT_SECRET: clientSecret },
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  running = child;
  return new Promise<number | null>((resolve) => child.once('exit', resolve));
}

const isPrinted = (text: string | RegExp) =>
  until(
    () => (typeof text === 'string' ? output.includes(text) : text.test(output)),
    () => `${String(text)} is printed: ${output}`,
  );

/** Delivers a callback, and repeats it after a 503, as the platform does. */
async function deliver(id: string, body: string): Promise<number> {
  let status = 0;
  await until(async () => {
    const signed = signatureHeaders({ id, now: clock.now(), body, secrets: [callbackSecretOf(client)] });
    const headers = { 'Content-Type': 'application/json', ...signed };
    const answer = await fetch(`${url}/developers/callbacks/${client}`, { method: 'POST', headers, body });
    status = answer.status;
    return status !== 503;
  });
  return status;
}

describe('clinical-launch-twin listen', () => {
  it('waits until the platform runs, passes callbacks on unchanged, and reports each status', async () => {
    const exited = startListening();
    await isPrinted('the platform does not answer, trying again');
    await starting.stop();
    platform = await startPlatform({
      environment: {
        PORT: String(starting.port),
        HOST: '127.0.0.1',
        PUBLIC_URL: url,
        REGISTRY_FILE: registryFile,
      },
      clock,
      logger: createRecordedLogger().logger,
    });
    await isPrinted(`listening for ${client}`);
    const seen: unknown[] = [];
    receiver.answerWith((headers, body) => {
      seen.push([headers['webhook-id'], headers['content-type'], headers['cookie'], body.toString()]);
      return 202;
    });
    const id = randomUUID();
    expect(await deliver(id, '{"patient": "é"}')).toBe(202);
    await isPrinted(new RegExp(`^\\d\\d:\\d\\d:\\d\\d ${id} 202$`, 'm'));
    expect(seen).toEqual([[id, 'application/json', undefined, '{"patient": "é"}']]);
    receiver.answerWith(() => 400);
    expect(await deliver(randomUUID(), '{}')).toBe(400);
    expect([output.includes('patient'), output.includes(secret)]).toEqual([false, false]);
    running?.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  it('signs in again when its session has ended, and still reports the callback in progress', async () => {
    const exited = startListening();
    await isPrinted(`listening for ${client}`);
    receiver.answerWith(() => {
      clock.advance({ seconds: 8 * 3600 });
      return 204;
    });
    const id = randomUUID();
    expect(await deliver(id, '{}')).toBe(204);
    await isPrinted(`${id} 204\n`);
    expect(output.split(`listening for ${client}`)).toHaveLength(3);
    receiver.answerWith(() => 200);
    expect(await deliver(randomUUID(), '{}')).toBe(200);
    running?.kill('SIGINT');
    expect(await exited).toBe(0);
  });

  it('reports no status if the local address does not answer, so that the platform tries again', async () => {
    void startListening();
    await isPrinted(`listening for ${client}`);
    const address = receiver.url;
    await receiver.stop();
    const id = randomUUID();
    const delivered = deliver(id, '{}');
    await isPrinted(`${id} no answer`);
    const { port } = new URL(address);
    const server = await listen((_request, response) => void response.writeHead(204).end(), {
      port: Number(port),
      host: '127.0.0.1',
    });
    expect(await delivered).toBe(204);
    await server.stop();
    receiver = await startCallbackReceiver();
  });

  it('exits with 1 if the secret is wrong', async () => {
    expect(await startListening('wrong')).toBe(1);
    expect(output).toContain('The platform answered 401. Check --client');
  });
});
