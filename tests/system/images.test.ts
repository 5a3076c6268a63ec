import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@clinical-launch/testing/servers/server-kind';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { root } from './run-command.ts';

const pluginFolders = [
  `${homedir()}/.docker`,
  '/usr/libexec/docker',
  '/usr/lib/docker',
  '/usr/local/lib/docker',
];
/** The program `docker-buildx`; undefined if it is not installed. */
const buildx =
  findProgram('docker-buildx') ??
  pluginFolders.map((folder) => `${folder}/cli-plugins/docker-buildx`).find((file) => existsSync(file));

type Build = { readonly context?: string; readonly dockerfile?: string; readonly target?: string };
type Target = Required<Omit<Build, 'target'>> & {
  readonly target?: string;
  readonly tags: readonly string[];
  readonly platforms: readonly string[];
  readonly attest: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
};

if (buildx === undefined)
  process.stderr.write('docker-bake.hcl is not checked, because docker-buildx is not installed\n');

/** Returns the targets of a group as bake would build them. */
function bake(group: string, environment: NodeJS.ProcessEnv = {}): readonly Target[] {
  const options = ['bake', '-f', 'docker-bake.hcl', '--print', group];
  const printed = execFileSync(buildx ?? '', options, {
    cwd: root,
    env: { HOME: homedir(), ...environment },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { target }: { readonly target: Readonly<Record<string, Target>> } = JSON.parse(printed);
  return Object.values(target);
}

/** Returns the images that Compose builds, with their sources. */
function imagesOfCompose() {
  const { services }: { services: Readonly<Record<string, { image: string; build?: Build | string }>> } =
    parse(readFileSync(`${root}docker-compose.yml`, 'utf8'), { merge: true });
  return Object.values(services).flatMap(({ image, build }) => {
    if (build === undefined) return [];
    const sources = typeof build === 'string' ? { context: build } : build;
    return [{ dockerfile: 'Dockerfile', ...sources, tags: [image.replace('${TAG:-local}', 'local')] }];
  });
}

const byTag = (one: Pick<Target, 'tags'>, other: Pick<Target, 'tags'>) =>
  String(one.tags).localeCompare(String(other.tags));

(buildx === undefined ? describe.skip : describe)('docker-bake.hcl', () => {
  it('builds the images of Compose from the same sources', () => {
    const baked = bake('default').map(
      ({ platforms: _platforms, attest: _attest, labels: _labels, ...one }) => one,
    );
    expect(baked.toSorted(byTag)).toEqual(imagesOfCompose().toSorted(byTag));
  });

  it('builds every image of a release for amd64 and arm64, with its bill of materials and provenance', () => {
    const names = bake('default').flatMap(({ platforms, attest, tags }) => {
      expect(platforms).toEqual(['linux/amd64', 'linux/arm64']);
      expect(attest.toSorted()).toEqual(['type=provenance,mode=max', 'type=sbom']);
      return tags;
    });
    expect(names.toSorted()).toEqual(
      ['-edge', '-operator', '-sandbox', '-waf', ''].map((name) => `clinical-launch${name}:local`),
    );
  });

  it('builds the twin from its package for amd64 and arm64, and not in production mode', () => {
    const [twin] = bake('twin');
    expect(twin).toMatchObject({
      context: 'sandbox/twin/dist',
      platforms: ['linux/amd64', 'linux/arm64'],
      tags: ['clinical-launch-twin:local'],
    });
    const { context = '', dockerfile = '' } = twin ?? {};
    const text = readFileSync(join(root, context, dockerfile), 'utf8');
    expect(text).toContain('CMD ["start", "--host", "0.0.0.0"]');
    expect(text).not.toContain('NODE_ENV');
  });

  it('labels the images with the version and the commit of the release', () => {
    const release = {
      REGISTRY: 'ghcr.io/x/',
      VERSION: '1.2.3',
      REVISION: '8cfddde2',
      SOURCE: 'https://x.example',
    };
    for (const { labels, tags } of bake('default', release)) {
      expect(labels).toEqual({
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.revision': '8cfddde2',
        'org.opencontainers.image.source': 'https://x.example',
      });
      expect(tags.join()).toMatch(/^ghcr\.io\/x\/clinical-launch(-[a-z]+)?:1\.2\.3$/);
    }
  });

  it('adds no labels to an image that is built without a release', () => {
    for (const { labels } of bake('default')) expect(labels ?? {}).toEqual({});
  });
});
