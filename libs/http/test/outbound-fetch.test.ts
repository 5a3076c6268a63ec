import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { OutboundError } from '../src/outbound-error.ts';
import { createOutboundFetch, type OutboundOptions } from '../src/outbound-fetch.ts';
import { loopbackNetworks, readAllowedNetworks } from '../src/outbound-settings.ts';
import { listen } from '../src/server.ts';

let server: Awaited<ReturnType<typeof listen>> | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** Starts a server on this machine, and sends one request to it with `createOutboundFetch`. */
async function fetchFrom(answer: RequestListener, options: Partial<OutboundOptions> = {}) {
  server = await listen(answer, { port: 0, host: '127.0.0.1' });
  const fetchOutbound = createOutboundFetch({ allowedNetworks: loopbackNetworks, ...options });
  return fetchOutbound(new URL(`http://127.0.0.1:${server.port}/start`));
}

/** Returns the code of the OutboundError with which a request fails. */
async function failureOf(fetching: Promise<unknown>): Promise<string> {
  const error = await fetching.catch((thrown: unknown) => thrown);
  if (error instanceof OutboundError) return error.code;
  throw new TypeError('The request did not fail');
}

describe('an outgoing request', () => {
  it('returns the status, headers and body of the answer', async () => {
    const answer = await fetchFrom((_request, response) => response.setHeader('x-a', 'b').end('body'));
    expect(answer).toMatchObject({ status: 200, headers: { 'x-a': 'b' }, body: Buffer.from('body') });
  });

  it('does not follow redirects', async () => {
    const asked: (string | undefined)[] = [];
    const { status } = await fetchFrom(({ url }, response) => {
      asked.push(url);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect([status, asked]).toEqual([302, ['/start']]);
  });

  it('fails if the body of the answer exceeds the limit, even without a declared length', async () => {
    const endless: RequestListener = (_request, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(16_384)));
        response.once('drain', write);
      };
      write();
    };
    expect(await failureOf(fetchFrom(endless, { maxBytes: 100_000 }))).toBe('bad_answer');
  });

  it('fails after its timeout, even if the body has begun to arrive', async () => {
    const stalling: RequestListener = (_request, response) => void response.write('{');
    expect(await failureOf(fetchFrom(stalling, { timeoutMs: 200 }))).toBe('timeout');
  });

  it('fails if the answer is 101 Switching Protocols', async () => {
    const switching: RequestListener = (_request, response) => {
      response.writeHead(101, { Connection: 'upgrade', Upgrade: 'other' }).end();
    };
    expect(await failureOf(fetchFrom(switching))).toBe('bad_answer');
  });

  it.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:,a', 'partnerapp://launch'])(
    'is refused if the protocol is neither http nor https: %s',
    async (address) => {
      const fetchOutbound = createOutboundFetch({ allowedNetworks: loopbackNetworks });
      expect(await failureOf(fetchOutbound(new URL(address)))).toBe('insecure_address');
    },
  );
});

describe('the allowed networks for outgoing requests', () => {
  it('are by default the loopback addresses, and none in production', () => {
    expect(readAllowedNetworks({})).toEqual(loopbackNetworks);
    expect(readAllowedNetworks({ NODE_ENV: 'production' })).toEqual([]);
  });

  it('are only the networks in OUTBOUND_ALLOWED_NETWORKS if it is set', () => {
    const setting = { OUTBOUND_ALLOWED_NETWORKS: '10.1.0.0/16, fd00::/8' };
    expect(readAllowedNetworks(setting)).toEqual(['10.1.0.0/16', 'fd00::/8']);
    expect(readAllowedNetworks({ ...setting, NODE_ENV: 'production' })).toEqual(['10.1.0.0/16', 'fd00::/8']);
  });

  it('are refused if they are invalid', () => {
    expect(() => readAllowedNetworks({ OUTBOUND_ALLOWED_NETWORKS: 'everywhere' })).toThrow(
      'OUTBOUND_ALLOWED_NETWORKS must be networks such as 10.1.0.0/16, separated by commas',
    );
  });
});
