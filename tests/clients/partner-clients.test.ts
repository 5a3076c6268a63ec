import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRecorder } from '@clinical-launch/conformance/recorder';
import { listen } from '@clinical-launch/http/server';
import { systemClock } from '@clinical-launch/runtime/clock';
import { createHostClient } from '@clinical-launch/simulators/host/desktop-launch';
import { readPlatformNames } from '@clinical-launch/simulators/platform-names';
import { getPatient } from '@clinical-launch/simulators/records';
import { startChromium } from '@clinical-launch/testing/chromium';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { folder, itWith, program, recipe, startForClients } from './foreign-client.ts';

const port = await findFreePort();
const application = `http://localhost:${port}`;
const partner = {
  clientId: 'my-partner',
  name: 'A partner application with a client library',
  profile: 'standard',
  redirectUris: [`${application}/callback`, `${application}/auth/callback/clinical-launch`],
  launchUrl: `${application}/launch`,
  scopes: ['openid', 'profile', 'email', 'launch', 'fhirUser', 'launch/patient', 'patient/*.rs'],
};

let platform: Awaited<ReturnType<typeof startForClients>>;
let chromium: Browser;
beforeAll(async () => {
  [platform, chromium] = await Promise.all([startForClients({ partners: [partner] }), startChromium()]);
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

/** Replaces the addresses of the guide. */
const here = (code: string) => platform.here(code).replaceAll('http://localhost:3000', application);

/** Requests a launch of the application as the host does, and returns its launch URL. */
async function requestLaunch(): Promise<string> {
  const { url: publicUrl, localUrl: platformUrl } = platform;
  const host = createHostClient({
    config: { publicUrl, platformUrl, names: readPlatformNames({}) },
    clock: systemClock,
    recorder: createRecorder(systemClock),
  });
  const wanted = { clientId: partner.clientId, patient: getPatient('record-2') };
  const { launchUrl } = await host.requestLaunch({ ...wanted, authorizations: ['clinical-cr.read'] });
  return launchUrl;
}

/** Opens a launch in the user's browser. Returns what the application shows once it has signed the user in. */
async function openLaunch(): Promise<string> {
  const page = await chromium.newPage({ ignoreHTTPSErrors: true });
  await page.goto(await requestLaunch());
  const shown = await page.waitForFunction('document.body.innerText.trim()');
  const text = String(await shown.jsonValue());
  await page.close();
  return text;
}

/** Returns the configuration of an Apache that shows the user's name on each page. */
function apacheConfiguration(files: string): string {
  const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'auth_openidc', 'include'];
  return `
    ${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
    User www-data
    Group www-data
    ServerName localhost
    Listen ${port}
    DefaultRuntimeDir ${files}
    PidFile ${files}/pid
    ErrorLog |/bin/cat
    DocumentRoot ${files}
    <Directory ${files}>
      Options +Includes
      ForceType text/html
      SetOutputFilter INCLUDES
    </Directory>
    OIDCCABundlePath ${files}/localhost.pem
    ${here(recipe('Apache'))}`;
}

/** Opens a launch while a program runs the application. */
async function openLaunchIn({ said, child, exited }: ReturnType<typeof platform.start>): Promise<string> {
  try {
    await said(/^ready$|resuming normal operations/m);
    return await openLaunch();
  } finally {
    child.kill();
    await exited;
  }
}

describe('the client library of a partner', () => {
  const authJs = recipe('Auth.js') + program('auth.mjs');
  const patient = ['fhirclient, by id', 'fhirclient, by search', 'Medplum, by id', 'Medplum, by search']
    .map((how) => `"${how}":"Ó Súilleabháin"`)
    .join();
  for (const [title, code, shown] of [
    ['Auth.js signs the user in, with the name from UserInfo', authJs, 'Adaeze Okonkwo'],
    ['Auth.js signs the user in by default', authJs.replace(/ *idToken: .*/, ''), 'adaeze.okonkwo@'],
    ['Passport signs the user in', recipe('Passport') + program('passport.mjs'), '"familyName":"Okonkwo"'],
    ['fhirclient or Medplum reads the patient, by id and by search', program('smart.mjs'), patient],
  ] as const)
    itWith('node', title, async () => {
      const started = platform.start('node', [here(code)], { PORT: String(port) });
      expect(await openLaunchIn(started)).toContain(shown);
    });

  itWith('apache2', 'mod_auth_openidc signs the user in', async () => {
    const files = mkdtempSync(join(tmpdir(), 'apache-'));
    try {
      // The user www-data reads these files.
      chmodSync(files, 0o755);
      copyFileSync(platform.certificate ?? '', join(files, 'localhost.pem'));
      writeFileSync(join(files, 'launch'), '<!--#echo var="OIDC_CLAIM_familyName" -->');
      writeFileSync(join(files, 'apache.conf'), apacheConfiguration(files));
      const started = platform.start('apache2', ['-DFOREGROUND', '-f', join(files, 'apache.conf')]);
      expect(await openLaunchIn(started)).toBe('Okonkwo');
    } finally {
      rmSync(files, { recursive: true });
    }
  });

  const manager = `
    const manager = new oidc.UserManager({
      authority: 'https://localhost:8443/idp/demo/desktop/v2.0',
      client_id: 'my-partner',
      redirect_uri: 'http://localhost:3000/callback',
      scope: 'openid profile launch',
      loadUserInfo: true,
    });
    const launch = new URLSearchParams(location.search).get('launch');
    if (launch) await manager.signinRedirect({ extraQueryParams: { launch } });
    else document.body.textContent = (await manager.signinRedirectCallback()).profile.name;`;
  const msal = `
    const { PublicClientApplication } = globalThis.msal;
    ${recipe('MSAL for browsers')}
    if (answer) {
      const { firstName, familyName } = answer.account.idTokenClaims;
      document.body.textContent = firstName + ' ' + familyName;
    }`;
  for (const [name, library, code] of [
    ['oidc-client-ts', 'oidc-client-ts/dist/browser/oidc-client-ts.js', manager],
    ['@azure/msal-browser', '@azure/msal-browser/lib/msal-browser.js', msal],
  ] as const)
    itWith('node', `${name} signs the user in`, async () => {
      const script = readFileSync(`${folder}/node_modules/${library}`);
      const page = `<!doctype html><body></body><script src="/library.js"></script><script type="module">${here(code)}</script>`;
      const server = await listen(
        ({ url }, response) => {
          const isLibrary = url === '/library.js';
          response.setHeader('Content-Type', isLibrary ? 'text/javascript' : 'text/html; charset=utf-8');
          response.end(isLibrary ? script : page);
        },
        { port },
      );
      try {
        expect(await openLaunch()).toContain('Adaeze Okonkwo');
      } finally {
        await server.stop();
      }
    });
});
