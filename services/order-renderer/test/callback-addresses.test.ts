import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createNetworkGuard } from '@clinical-launch/http/network-guard';
import type { ResolveName } from '@clinical-launch/http/outbound-fetch';
import type { Storage } from '@clinical-launch/storage/storage';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type CallbackReceiver, startReceiver } from './callback-receiver.ts';
import {
  aRegistry,
  aSecret,
  type DeliveringPlatform,
  sealed,
  startDeliveringPlatform,
} from './delivering-platform.ts';

const secret = aSecret();
const registered = (url: string) => aRegistry({ 'pms-demo': { url, secrets: [sealed(secret)] } });

let receiver: CallbackReceiver;
let storage: Storage;
let platform: DeliveringPlatform | undefined;
beforeAll(async () => {
  [receiver, storage] = await Promise.all([startReceiver(), openTestStorage()]);
});
afterEach(async () => {
  await platform?.stop();
  platform = undefined;
});
afterAll(async () => {
  await receiver.stop();
  await storage.close();
});

type Where = {
  readonly allowedNetworks?: string[];
  readonly resolveName?: ResolveName;
  readonly platformUrl?: string;
};

/** Submits an order for a client with this callback address. Returns the first event about the delivery. */
async function deliverTo(url: string, { resolveName, ...callbacks }: Where = {}) {
  platform = await startDeliveringPlatform({
    storage,
    registry: registered(url),
    callbacks: { allowedNetworks: [], ...callbacks },
    ...(resolveName && { resolveName }),
  });
  const { launchId } = await platform.order();
  const [reported] = await platform.awaitDeliveryEvents(launchId, 1);
  return { type: reported?.[0], ...(reported?.[1] as { reason?: string }) };
}

describe('a callback address outside the public internet', () => {
  it.each([
    'http://127.0.0.1:{port}/',
    'https://127.0.0.1:{port}/',
    'http://localhost:{port}/',
    'http://2130706433:{port}/',
    'http://0x7f.1:{port}/',
    'http://0177.0.0.1:{port}/',
    'http://0:{port}/',
    'http://[::1]:{port}/',
    'http://[::]:{port}/',
    'http://[::ffff:127.0.0.1]:{port}/',
    'http://[::ffff:7f00:1]:{port}/',
    'http://[64:ff9b::7f00:1]:{port}/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'https://[fd00::1]/',
  ])('receives no document: %s', async (url) => {
    const before = receiver.received.length;
    const reported = await deliverTo(url.replace('{port}', String(receiver.port)));
    expect(reported).toMatchObject({ reason: 'address_refused', isFinal: false });
    expect(receiver.received).toHaveLength(before);
  });

  it('receives documents by http if the operator allowed its network', async () => {
    expect(await deliverTo(receiver.url, { allowedNetworks: ['127.0.0.0/8'] })).toMatchObject({
      type: 'order.document.delivered.v1',
    });
  });

  it('receives documents through PLATFORM_URL if the address belongs to the platform itself', async () => {
    const before = receiver.received.length;
    const reported = await deliverTo('http://localhost/demo/callbacks?a=1', {
      platformUrl: `http://127.0.0.1:${receiver.port}`,
    });
    expect(reported.type).toBe('order.document.delivered.v1');
    expect(receiver.received.slice(before).map(({ path }) => path)).toEqual(['/demo/callbacks?a=1']);
  });

  it('is not an address of the platform if its host name only starts with the platform’s host name', async () => {
    const reported = await deliverTo('http://localhost.evil.example/', {
      platformUrl: `http://127.0.0.1:${receiver.port}`,
      resolveName: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    expect(reported.reason).toBe('address_refused');
  });
});

describe('a callback address on the public internet', () => {
  it('receives no document by http', async () => {
    expect(await deliverTo('http://8.8.8.8/')).toMatchObject({ reason: 'insecure_address', isFinal: false });
  });
});

describe('the host name of a callback address', () => {
  const leadingTo = (...addresses: string[]) => {
    const asked: string[] = [];
    const resolveName: ResolveName = async (hostname) => {
      asked.push(hostname);
      const address = addresses[Math.min(asked.length, addresses.length) - 1] ?? '';
      return [{ address, family: address.includes(':') ? 6 : 4 }];
    };
    return { asked, resolveName };
  };

  it('is resolved once, so that the renderer posts to the address that it checked', async () => {
    const before = receiver.received.length;
    const { asked, resolveName } = leadingTo('127.0.0.1', '127.0.0.2');
    const url = `http://rebinding.example:${receiver.port}/`;
    const reported = await deliverTo(url, { allowedNetworks: ['127.0.0.1/32'], resolveName });
    expect(reported.type).toBe('order.document.delivered.v1');
    expect(asked).toEqual(['rebinding.example']);
    const [callback] = receiver.received.slice(before);
    expect(callback?.headers.host).toBe(`rebinding.example:${receiver.port}`);
  });

  it.each(['127.0.0.2', '10.1.2.3', '169.254.169.254', '::1', 'fc00::1', '::ffff:10.1.2.3', 'fe80::1%lo'])(
    'is refused if it resolves to %s',
    async (address) => {
      const { resolveName } = leadingTo(address);
      const reported = await deliverTo('https://rebinding.example/', {
        allowedNetworks: ['127.0.0.1/32'],
        resolveName,
      });
      expect(reported.reason).toBe('address_refused');
    },
  );

  it('is accepted if one of its addresses is allowed, and the renderer posts to that address', async () => {
    const resolveName: ResolveName = async () => [
      { address: '10.1.2.3', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const url = `http://several.example:${receiver.port}/`;
    const reported = await deliverTo(url, { allowedNetworks: ['127.0.0.1/32'], resolveName });
    expect(reported.type).toBe('order.document.delivered.v1');
  });

  it('causes a failed attempt that is not final if it has no address', async () => {
    // A host name with a label of 64 characters is invalid, so no name server is queried.
    const url = `https://${'a'.repeat(64)}.example/`;
    expect(await deliverTo(url)).toMatchObject({ reason: 'unresolved', isFinal: false });
  });
});

describe('delivery over https', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callback-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const usual = getCACertificates();
  let secure: CallbackReceiver;
  beforeAll(async () => {
    const name = ['-subj', '/CN=pms.example', '-addext', 'subjectAltName=DNS:pms.example'];
    const kind = [
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...name], { stdio: 'ignore' });
    secure = await startReceiver({ key: readFileSync(key), cert: readFileSync(cert) });
  });
  afterEach(() => setDefaultCACertificates(usual));
  afterAll(async () => {
    await secure.stop();
    rmSync(folder, { recursive: true });
  });

  const reach = (host: string) =>
    deliverTo(`https://${host}:${secure.port}/`, {
      allowedNetworks: ['127.0.0.1/32'],
      resolveName: async () => [{ address: '127.0.0.1', family: 4 }],
    });

  it('succeeds if the certificate is trusted and matches the host name', async () => {
    setDefaultCACertificates([...usual, readFileSync(cert, 'utf8')]);
    expect((await reach('pms.example')).type).toBe('order.document.delivered.v1');
    expect(secure.received).toHaveLength(1);
  });

  it.each([
    ['is not trusted', 'pms.example', false],
    ['has another name', 'other.example', true],
  ])('sends nothing if the receiver’s certificate %s', async (_what, host, isTrusted) => {
    const before = secure.received.length;
    if (isTrusted) setDefaultCACertificates([...usual, readFileSync(cert, 'utf8')]);
    expect(await reach(host)).toMatchObject({ reason: 'untrusted_certificate', isFinal: false });
    expect(secure.received).toHaveLength(before);
  });
});

describe('the network guard', () => {
  const guard = createNetworkGuard(['10.20.0.0/16', 'fd12::/16']);

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '223.255.255.255',
    '2a00:1450::1',
    '2620:fe::fe',
  ])('accepts %s as public', (address) => expect(guard.isPublic(address)).toBe(true));

  const others = `
    0.0.0.0 10.0.0.1 10.20.0.1 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255
    192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1
    255.255.255.255 :: ::1 ::7f00:1 ::ffff:8.8.8.8 ::ffff:10.0.0.1 64:ff9b::808:808 100::1 2001::1 2001:db8::1
    2002:7f00:1:: 3fff::1 fc00::1 fd12::1 fe80::1 fec0::1 ff02::1 localhost 8.8.8 8.8.8.8.8`;
  it.each(others.trim().split(/\s+/))('does not accept %j as public', (address) =>
    expect(guard.isPublic(address)).toBe(false),
  );

  it.each([
    ['10.20.255.1', true],
    ['::ffff:10.20.0.1', true],
    ['fd12::1', true],
    ['10.21.0.1', false],
    ['fd13::1', false],
    ['8.8.8.8', false],
  ])('reports whether %s is in an allowed network: %s', (address, isAllowed) =>
    expect(guard.isAllowed(address)).toBe(isAllowed),
  );
});
