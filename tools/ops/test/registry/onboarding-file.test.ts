import { chmod, lstat, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readDocument, writeDocument } from '../../src/registry/registry-document.ts';
import { openRegistryCopy } from './registry-copy.ts';

let copy: Awaited<ReturnType<typeof openRegistryCopy>>;
beforeEach(async () => {
  copy = await openRegistryCopy();
});
afterEach(async () => copy.remove());

const pms = ['--realm', 'demo', '--client-id', 'pms-new', '--name', 'A new PMS'];

describe('the file', () => {
  it('is replaced whole, with its mode whatever the umask, through a link, and nothing is left beside it', async () => {
    await chmod(copy.path, 0o666);
    await rename(copy.path, join(copy.folder, 'target.json'));
    await symlink('target.json', copy.path);
    expect((await copy.run('add-pms', ...pms)).code).toBe(0);
    expect((await stat(copy.path)).mode & 0o777).toBe(0o666);
    expect((await lstat(copy.path)).isSymbolicLink()).toBe(true);
    expect(await copy.clientNamed('demo', 'pms-new')).toBeDefined();
    expect((await readdir(copy.folder)).toSorted()).toEqual(['registry.json', 'target.json']);
  });

  it('keeps another style: tabs, and everything on few lines', async () => {
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

  it('that somebody else changed in the meantime is not written over', async () => {
    const document = await readDocument(copy.path);
    await writeFile(copy.path, '{"realms":[]}');
    await expect(writeDocument(document, copy.before)).rejects.toThrow('has changed since it was read');
    expect(await copy.text()).toBe('{"realms":[]}');
    expect(await readdir(copy.folder)).toEqual(['registry.json']);
  });

  it('that cannot be used is not touched', async () => {
    for (const text of ['', '{', '{"realms":[{"realm":"a"}]}']) {
      await writeFile(copy.path, text);
      expect((await copy.runHere('add-pms', ...pms)).code).toBe(1);
      expect(await copy.text()).toBe(text);
    }
  });

  it('is checked for use and for production', async () => {
    const { code, output } = await copy.runHere('check');
    expect(code).toBe(0);
    expect(output).toContain('registry: can be used');
    expect(output).toContain(
      'production refuses it: realms[1].desktop.partners[0].clientId is a client of the demo',
    );
    expect(await copy.text()).toBe(copy.before);
  });
});
