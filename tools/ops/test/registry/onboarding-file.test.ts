import { chmod, lstat, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readDocument, writeDocument } from '../../src/registry/registry-document.ts';
import { runOpsHere } from '../run-ops.ts';
import { openRegistryCopy } from './registry-copy.ts';

let copy: Awaited<ReturnType<typeof openRegistryCopy>>;
beforeEach(async () => {
  copy = await openRegistryCopy();
});
afterEach(async () => copy.remove());

const pms = ['--realm', 'demo', '--client-id', 'pms-new', '--name', 'A new PMS'];

describe('the registry file', () => {
  it('keeps its symbolic link and its file mode when it is replaced, and no temporary file is left', async () => {
    await chmod(copy.path, 0o666);
    await rename(copy.path, join(copy.folder, 'target.json'));
    await symlink('target.json', copy.path);
    expect((await copy.run('add-pms', ...pms)).code).toBe(0);
    expect((await stat(copy.path)).mode & 0o777).toBe(0o666);
    expect((await lstat(copy.path)).isSymbolicLink()).toBe(true);
    expect(await copy.clientNamed('demo', 'pms-new')).toBeDefined();
    expect((await readdir(copy.folder)).toSorted()).toEqual(['registry.json', 'target.json']);
  });

  it('keeps its style, whether indented by tabs or compact', async () => {
    const tabs =
      '{\n\t"realms": [\n\t\t{ "realm": "demo", "clients": [] },\n\t\t{ "realm": "b", "clients": [] }\n\t]\n}\n';
    await writeFile(copy.path, tabs);
    await copy.runHere('add-pms', ...pms);
    const text = await copy.text();
    expect(text).toContain('\n\t\t{ "realm": "b", "clients": [] }\n\t]\n}\n');
    expect(text).toMatch(/\n\t+"clientId": "pms-new",\n/);
    await writeFile(copy.path, '{"realms":[{"realm":"demo","clients":[]}]}');
    expect((await copy.runHere('add-pms', ...pms)).code).toBe(0);
    expect(await copy.clientNamed('demo', 'pms-new')).toBeDefined();
  });

  it('is not overwritten if it has changed since it was read', async () => {
    const document = await readDocument(copy.path);
    await writeFile(copy.path, '{"realms":[]}');
    await expect(writeDocument(document, copy.before)).rejects.toThrow('has changed since it was read');
    expect(await copy.text()).toBe('{"realms":[]}');
    expect(await readdir(copy.folder)).toEqual(['registry.json']);
  });

  it('is not changed if it is invalid', async () => {
    for (const text of ['', '{', '{"realms":[{"realm":"a"}]}']) {
      await writeFile(copy.path, text);
      expect((await copy.runHere('add-pms', ...pms)).code).toBe(1);
      expect(await copy.text()).toBe(text);
    }
  });

  it('is refused with the line and column of the first fault of syntax, or of every fault of content', async () => {
    await writeFile(copy.path, '{\n  "realms": [}');
    expect((await copy.runHere('check')).errors).toMatch(
      /^The file is not JSON: .*, at line 2, column 14\n$/,
    );
    const realms = [
      { realm: 'a', clients: [] },
      { realm: 'B', clients: [{ clientId: 'c d', scopes: [] }] },
    ];
    await writeFile(copy.path, JSON.stringify({ realms }, undefined, 1));
    const { errors } = await copy.runHere('check');
    expect(errors.match(/^ {2}line \d+, column \d+: realms\[1\]\S*/gm)).toEqual(
      expect.arrayContaining([
        '  line 8, column 4: realms[1].realm',
        '  line 11, column 6: realms[1].clients[0].clientId',
      ]),
    );
  });

  it('is accepted by check, which also reports why production refuses the file', async () => {
    const { code, output } = await copy.runHere('check');
    expect(code).toBe(0);
    expect(output).toContain('registry: can be used');
    expect(output).toContain(
      'production refuses it: realms[1].desktop.partners[0].clientId is a client of the demo',
    );
    expect(await copy.text()).toBe(copy.before);
  });

  it('is refused by check --production, which exits with 1', async () => {
    const { code, output, errors } = await copy.runHere('check', '--production');
    expect([code, output]).toEqual([1, expect.stringMatching(/^registry: can be used\n/)]);
    expect(errors).toMatch(/^(production refuses it: .+\n)+$/);
  });
});

describe('a new registry', () => {
  const at = (path: string) => ({ REGISTRY_FILE: join(copy.folder, path), PUBLIC_URL: 'https://p.example' });
  const run = (path: string, ...args: string[]) => runOpsHere(['registry', ...args], at(path));

  it('is created by init, and accepted by production once its client has practices', async () => {
    expect(await run('new.json', 'init')).toMatchObject({ code: 0, errors: '' });
    expect(await run('new.json', 'add-realm', '--realm', 'demo')).toMatchObject({ code: 0 });
    expect(await run('new.json', 'add-pms', ...pms)).toMatchObject({ code: 0 });
    expect(await run('new.json', 'check', '--production')).toMatchObject({ code: 1 });
    const of = ['--realm', 'demo', '--client-id', 'pms-new', '--practices', 'any'];
    expect(await run('new.json', 'set-practices', ...of)).toMatchObject({ code: 0 });
    const { code, output } = await run('new.json', 'check', '--production');
    expect([code, output]).toEqual([0, 'registry: can be used\nproduction: accepts it\n']);
  });

  it('must be created with `registry init`, which refuses an existing file and a missing folder', async () => {
    const missing = await run('new.json', 'list');
    expect([missing.code, missing.errors]).toEqual([
      1,
      expect.stringMatching(
        /^There is no registry file \S+new\.json\. Create it with `\.\/clinical-launch registry init`/,
      ),
    ]);
    expect(await run('registry.json', 'init')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/already exists, so nothing was written\n$/),
    });
    expect(await copy.text()).toBe(copy.before);
    expect(await run('none/new.json', 'init')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/does not exist\. Create it first\n$/),
    });
  });
});

describe('the onboarding sheet', () => {
  const environment = { PUBLIC_URL: 'https://p.example', AUDIENCE: 'api://other' };
  const sheet = () => join(copy.folder, 'sheet.md');

  it('contains the values for the vendor, but not the secret, which is printed once', async () => {
    const args = ['add-pms', ...pms, '--practices', 'ods:B82017', '--sheet', sheet()];
    const { code, reported } = await copy.runWith(environment, ...args);
    expect([code, reported.get('scope'), reported.get('base_address')]).toEqual([
      0,
      'api://other/.default',
      'https://p.example',
    ]);
    const text = await readFile(sheet(), 'utf8');
    for (const value of [
      'pms-new',
      'https://p.example',
      'https://p.example/idp/demo/oauth2/v2.0/token',
      'api://other/.default',
      'https://p.example/AccessApi/RequestLaunchUrl',
      'B82017',
      'ask the operator',
      'https://p.example/developers/guides/pms',
    ])
      expect(text).toContain(`| \`${value}\` |`);
    expect(reported.get('client_secret')).toMatch(/^[\w-]{43}$/);
    expect(text).not.toContain(reported.get('client_secret'));
  });

  it('lists the laboratories of the directory of a practice system', async () => {
    const performers = [{ system: 'ods-organization-code', code: 'rcb00' }];
    await writeFile(join(copy.folder, 'directory.json'), JSON.stringify({ performers }));
    const args = ['add-pms', ...pms, '--directory', 'directory.json', '--sheet', sheet()];
    expect(await copy.runWith(environment, ...args)).toMatchObject({ code: 0 });
    expect(await readFile(sheet(), 'utf8')).toContain('| Laboratories | `ods-organization-code RCB00` |');
  });

  it.each([
    ['host', ['add-host', ...pms, '--ern', 'ern:new'], 'https://p.example/idp/demo/oauth2/v2.0/token'],
    [
      'partner',
      [
        'add-partner',
        '--realm=demo/desktop',
        '--client-id=new',
        '--name=New',
        '--launch-url=https://new.example/launch',
        '--redirect-uri=https://new.example/callback',
      ],
      'https://p.example/idp/demo/desktop/oauth2/v2.0/authorize',
    ],
  ])('exists also for a %s, without rows that it has no value for', async (guide, args, address) => {
    expect(await copy.runWith(environment, ...args, '--sheet', sheet())).toMatchObject({ code: 0 });
    const text = await readFile(sheet(), 'utf8');
    expect(text).toContain(`| \`${address}\` |`);
    expect(text).toContain(`| Guide | \`https://p.example/developers/guides/${guide}\` |`);
    expect(text).not.toMatch(/Launch endpoint|Callback|\| `` \|/);
  });

  it('requires PUBLIC_URL, and nothing is registered if the sheet cannot be written', async () => {
    const args = ['add-pms', ...pms, '--sheet', sheet()];
    expect(await copy.runWith({}, ...args)).toMatchObject({ code: 2 });
    await writeFile(sheet(), 'mine');
    expect(await copy.runWith(environment, ...args)).toMatchObject({ code: 1 });
    expect([await readFile(sheet(), 'utf8'), await copy.text()]).toEqual(['mine', copy.before]);
    const [key, address] = ['--jwks-uri', 'https://pms.example/keys'];
    const other = join(copy.folder, 'other.md');
    expect(await copy.runWith(environment, 'add-pms', ...pms, key, address, '--sheet', other)).toMatchObject({
      code: 0,
    });
    expect(await readFile(other, 'utf8')).toMatch(/to be agreed[^]*There is no secret/);
  });
});
