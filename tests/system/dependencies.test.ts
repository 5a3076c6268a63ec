import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { root, run } from './run-command.ts';

type LockFile = {
  readonly packages: Readonly<
    Record<string, { readonly name?: string; readonly version?: string; dev?: boolean; link?: boolean }>
  >;
};
type BillOfMaterials = {
  readonly bomFormat: string;
  readonly components: readonly { readonly 'bom-ref': string; readonly purl: string }[];
};

describe('the bill of materials (tools/release/sbom.ts)', () => {
  it('lists exactly the locked production dependencies and our own packages in CycloneDX', async () => {
    const command = run(process.execPath, ['tools/release/sbom.ts']);
    let printed = '';
    command.child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    expect(await command.exited).toBe(0);
    const { bomFormat, components }: BillOfMaterials = JSON.parse(printed);
    expect(bomFormat).toBe('CycloneDX');
    const isOurs = ({ purl }: { purl: string }) => purl.startsWith('pkg:npm/%40clinical-launch/');
    const listed = components.filter((one) => !isOurs(one)).map((one) => one['bom-ref']);
    const { packages }: LockFile = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
    const locked = Object.entries(packages)
      .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
      .map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`);
    expect(locked.length).toBeGreaterThan(50);
    expect(listed.toSorted()).toEqual([...new Set(locked)].toSorted());
    const ours = Object.keys(packages).filter((path) => path !== '' && !path.includes('node_modules/'));
    expect(components.filter(isOurs)).toHaveLength(ours.length);
  });
});

describe('the audit of dependencies (npm run audit:dependencies)', () => {
  const cache = mkdtempSync(join(tmpdir(), 'clinical-launch-npm-'));
  const registry = { answer: (_response: ServerResponse): void => undefined };
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (request.url === '/-/npm/v1/security/advisories/bulk') registry.answer(response);
      else response.writeHead(404).end();
    });
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(cache, { recursive: true });
  });

  const advising = (advisories: object) => (response: ServerResponse) =>
    void response.setHeader('Content-Type', 'application/json').end(JSON.stringify(advisories));
  const refusing = (status: number) => (response: ServerResponse) => void response.writeHead(status).end();

  async function audit(answer: (response: ServerResponse) => void, address = url, ...args: string[]) {
    registry.answer = answer;
    const command = run('npm', ['run', '--silent', 'audit:dependencies', ...args], {
      npm_config_registry: address,
      npm_config_cache: cache,
    });
    return { code: await command.exited, output: command.output() };
  }

  let advisories = 0;
  const advisory = (severity: string) => ({
    express: [
      {
        // Each advisory needs a new id, because npm caches advisories by id.
        id: (advisories += 1),
        url: 'https://advisories.example/1',
        title: 'Anybody may do anything',
        severity,
        vulnerable_versions: '<999',
        cwe: [],
        cvss: { score: 8, vectorString: null },
      },
    ],
  });

  it('fails and names a production dependency with a known vulnerability', async () => {
    const { code, output } = await audit(advising(advisory('high')));
    expect([code, output]).toEqual([1, expect.stringContaining('express: high')]);
  });

  it.each([
    ['no vulnerability is known', {}],
    ['the severity is moderate', advisory('moderate')],
  ])('succeeds when %s', async (_case, found) => {
    const { code, output } = await audit(advising(found));
    expect([code, output]).toEqual([0, expect.stringContaining('No production dependency')]);
  });

  it.each([
    ['has no advisories (405)', refusing(405), undefined],
    ['has no advisories (404)', refusing(404), undefined],
    ['cannot be reached', refusing(404), 'http://127.0.0.1:1/'],
  ])(
    'succeeds with a one-line warning that nothing was audited when the registry %s',
    async (_case, answer, at) => {
      const { code, output } = await audit(answer, at);
      expect(code).toBe(0);
      expect(output.split('\n').filter((line) => line.startsWith('WARNING'))).toEqual([
        expect.stringContaining('dependencies were NOT audited'),
      ]);
    },
  );

  it('fails with --required, as in a release, when the registry has no advisories', async () => {
    const { code, output } = await audit(refusing(405), url, '--', '--required');
    expect([code, output]).toEqual([1, expect.stringContaining('dependencies were NOT audited')]);
  });
});
