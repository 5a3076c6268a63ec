import { readOrderingConfig } from '@clinical-launch/ordering/config';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPlatformForTest } from './running-platform.ts';

const pages = [
  '/idp/demo/desktop/oauth2/v2.0/authorize',
  '/audit/signed-out',
  '/oltr/4f9f3b0e-0000-4000-8000-000000000000/',
  '/orders/4f9f3b0e-0000-4000-8000-000000000000.xml',
];

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
const footerOf = async (path: string) => {
  const response = await fetch(platform.url + path, { headers: { Accept: 'text/html' } });
  const [, footer = ''] = (await response.text()).split('<footer');
  return footer;
};

describe('the support line', () => {
  beforeAll(async () => {
    const environment = { SUPPORT_LINE: 'Help: <0300 123 4567> & intranet' };
    platform = await startPlatformForTest({ environment });
  });
  afterAll(() => platform.stop());

  it.each(pages)('appears escaped in the footer of %s', async (path) => {
    expect(await footerOf(path)).toContain('>Help: &lt;0300 123 4567&gt; &amp; intranet<');
  });

  it.each([
    ['x'.repeat(201), 'must have at most 200 characters'],
    ['one\ntwo', 'must be one line, without tabs'],
  ])('prevents the start if it is %j', (line, problem) => {
    const read = () => readOrderingConfig({ PUBLIC_URL: 'http://localhost', SUPPORT_LINE: line });
    expect(read).toThrow(`SUPPORT_LINE ${problem}`);
  });
});

describe('a platform without a support line', () => {
  beforeAll(async () => {
    platform = await startPlatformForTest();
  });
  afterAll(() => platform.stop());

  it.each(pages)('shows no support line in the footer of %s', async (path) => {
    expect(await footerOf(path)).toMatch(/^(?![^]*app-support)[^]*<\/footer>/);
  });
});
