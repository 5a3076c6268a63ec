import { createHash } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  aPartner,
  authorizeFields,
  aVerifier,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  realm,
  refusalOf,
  refused,
  runDesktop,
  tokenFields,
} from './running-desktop.ts';
import { aClient, basic, record, tokenForm } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  const mixed = { realm: 'mixed/desktop', clients: [aClient()], desktop: { partners: [aPartner()] } };
  running = await runDesktop({ clock, storage, realms: [...desktopRealms(), mixed] });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const names = ['grant_type', 'client_id', 'scope', 'code', 'redirect_uri', 'code_verifier'];
const wrong: readonly [string, string, string][] = [
  ['grant_type', 'password', 'unsupported_grant_type'],
  ['grant_type', 'client_credentials', 'unsupported_grant_type'],
  ['client_id', 'nobody', 'invalid_client'],
  ['client_id', 'partner-native', 'invalid_grant'],
  ['scope', 'openid admin', 'invalid_scope'],
  ['scope', 'openid  launch', 'invalid_scope'],
  ['code', 'A'.repeat(43), 'invalid_grant'],
  ['redirect_uri', 'https://attacker.example/', 'invalid_grant'],
  ['code_verifier', 'A'.repeat(43), 'invalid_grant'],
];

describe('an invalid token request of a partner', () => {
  const expectRefusal = async (sent: Fields | [string, string][], error: string, good: Fields) => {
    const response = await running.postToken(sent);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    expect(response.headers.has('www-authenticate')).toBe(false);
    expect(await refusalOf(response)).toEqual(refused(error));
    expect((await running.postToken(good)).status).toBe(200);
  };

  it.each(names)('without %s is refused and leaves the code usable', async (name) => {
    const good: Fields = await running.codeFor();
    const { [name]: _missing, ...sent } = good;
    await expectRefusal(sent, 'invalid_request', good);
  });

  it.each(names)('with an empty %s is refused and leaves the code usable', async (name) => {
    const good: Fields = await running.codeFor();
    await expectRefusal({ ...good, [name]: '' }, 'invalid_request', good);
  });

  it.each(names)('with two %s parameters is refused and leaves the code usable', async (name) => {
    const good: Fields = await running.codeFor();
    const sent: [string, string][] = [...Object.entries(good), [name, String(good[name])]];
    await expectRefusal(sent, 'invalid_request', good);
  });

  it.each(wrong)(
    'whose %s is %j is refused with the error %s and leaves the code usable',
    async (name, value, error) => {
      const good: Fields = await running.codeFor();
      await expectRefusal({ ...good, [name]: value }, error, good);
    },
  );

  it('with a client secret is refused, because a partner application has no secret', async () => {
    const good: Fields = await running.codeFor();
    await expectRefusal({ ...good, client_secret: 'a secret' }, 'invalid_client', good);
    const response = await running.postToken(await running.codeFor(), realm, {
      authorization: basic('partner', 'a secret'),
    });
    expect(await refusalOf(response)).toEqual(refused('invalid_client'));
  });

  it.each(['refresh_token', 'scope', 'client_id'])(
    'that refreshes with two %s parameters is refused',
    async (name) => {
      const { refreshToken } = await running.tokensFor();
      const good = {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        scope: 'openid',
        client_id: 'partner',
      };
      const sent: [string, string][] = [...Object.entries(good), [name, String(record(good)[name])]];
      await expectRefusal(sent, 'invalid_request', good);
    },
  );

  it.each([
    [{ refresh_token: '' }, 'invalid_request'],
    [{ refresh_token: 'A'.repeat(43) }, 'invalid_grant'],
    [{ client_id: 'nobody' }, 'invalid_client'],
    [{ scope: 'admin' }, 'invalid_scope'],
  ])('that refreshes with %j is refused with the error %s', async (change, error) => {
    const { refreshToken } = await running.tokensFor();
    const good = { grant_type: 'refresh_token', refresh_token: refreshToken };
    await expectRefusal({ ...good, ...change }, error, good);
  });
});

describe('the code verifier', () => {
  const exchange = async (verifier: string, client_id = 'partner') => {
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const launch = await running.launchFor({ client_id });
    const authorized = await running.postAuthorize({ ...authorizeFields({ launch, challenge }), client_id });
    const code = String(new URL(String(authorized.headers.get('location'))).searchParams.get('code'));
    return running.postToken(tokenFields({ code, verifier, client_id }));
  };

  it.each([43, 44, 127, 128])('of %d characters is accepted', async (length) => {
    expect((await exchange('aB3_-.'.repeat(30).slice(0, length))).status).toBe(200);
  });

  it('may contain a tilde with the profile standard', async () => {
    expect((await exchange('aB3_-.~'.repeat(7), 'partner-standard')).status).toBe(200);
  });

  it.each([1, 42, 129, 256])('of %d characters is refused', async (length) => {
    const response = await exchange('aB3_-.'.repeat(50).slice(0, length));
    expect(await refusalOf(response)).toEqual(refused('invalid_request'));
  });

  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
  const forbidden = [
    ...printable.filter((one) => !/[A-Za-z0-9_.-]/.test(one)),
    '\t',
    '\n',
    '\0',
    'é',
    '\u007f',
  ];

  it.each(forbidden)('with the character %j is refused', async (character) => {
    const response = await exchange(`${'a'.repeat(42)}${character}`);
    expect(await refusalOf(response)).toEqual(refused('invalid_request'));
  });

  it.each(printable.filter((one) => /[A-Za-z0-9_.-]/.test(one)))(
    'with the character %j is accepted',
    async (character) => {
      expect((await exchange(character.repeat(43))).status).toBe(200);
    },
  );
});

describe('the grants of a realm', () => {
  it('are client credentials if the realm has clients, and the partner grants if it has partners', async () => {
    const code = await running.codeFor();
    const noPartners = await running.postToken(code, 'north');
    expect(await refusalOf(noPartners)).toEqual(refused('unsupported_grant_type'));
    const noClients = await running.postToken(tokenForm());
    expect(await refusalOf(noClients)).toEqual(refused('unsupported_grant_type'));
    const at = 'mixed/desktop';
    expect((await running.postToken(tokenForm(), at)).status).toBe(200);
    expect((await running.postToken(await running.codeFor({}, { at }), at)).status).toBe(200);
  });

  it('do not include client credentials for a partner', async () => {
    const response = await running.postToken({ ...tokenForm(), client_id: 'partner' }, 'mixed/desktop');
    expect(await refusalOf(response)).toEqual(refused('invalid_client', 401));
  });
});

describe('the event of a refused token request', () => {
  it('contains the reason and the client_id of a registered partner, but never an unknown client_id', async () => {
    const fields = await running.codeFor();
    const before = running.published.length;
    const type = 'access.token.refused.v1';
    await running.postToken({ ...fields, code_verifier: aVerifier().verifier });
    await running.postToken({ ...fields, client_id: 'sent-by-a-stranger' });
    const address = '127.0.0.1';
    const from = { address, count: 1 };
    expect(running.published.slice(before).map((event) => ({ type: event.type, ...event.data }))).toEqual([
      { type, realm, status: 400, reason: 'code_mismatch', clientId: 'partner', address },
      { type, realm, status: 400, reason: 'unknown_partner', ...from },
    ]);
  });
});
