import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultCodes } from '@clinical-launch/contracts/fault';
import { sheetColumns } from '@clinical-launch/ops/catalogue/catalogue-sheet';
import { tools } from '@clinical-launch/ops/tools';
import { tokenReasons } from '@clinical-launch/trust/invalid-token';
import { describe, expect, it } from '@jest/globals';
import { developerPages, pagesFolder } from '../../tools/docs/developer-pages.ts';
import { generatedDocuments } from '../../tools/docs/docs.ts';
import { requiredSettings, services } from '../../tools/docs/settings.ts';
import { mainOf, root, run } from './run-command.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));
const documents = tracked.filter((path) => path.endsWith('.md'));
/** Every source or configuration file that may name a document. */
const sources = tracked.filter((path) => /\.(ts|js|ya?ml|env|cfg|njk|sh|lua|conf)$|Dockerfile$/.test(path));

const withoutCode = (markdown: string) => markdown.replace(/^```[^]*?^```$/gm, '');

/** Returns the targets of links and images within the repository. */
function linksIn(markdown: string): string[] {
  const text = withoutCode(markdown).replace(/`[^`\n]*`/g, '');
  const found = [
    ...text.matchAll(/\]\(([^)\s]+)\)/g),
    ...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm),
    ...text.matchAll(/<(?:img|a)\s[^>]*?(?:src|href)="([^"]+)"/g),
  ];
  return found.map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the anchors that GitHub gives to a document's headings. */
function anchorsIn(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(markdown).matchAll(/^#+ (.+)$/gm)) {
    const plain = heading.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').toLowerCase();
    const name = plain.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    let anchor = name;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${name}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns true if the file of a link exists and, if the link names a heading, the heading exists too. */
function leadsSomewhere(from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : normalize(join(dirname(from), path));
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || (file.endsWith('.md') && anchorsIn(read(file)).has(anchor));
}

const loaded = new Map(
  await Promise.all(Object.entries(tools).map(async ([name, { load }]) => [name, await load()] as const)),
);

describe('a document', () => {
  it.each(documents)('%s links only to existing files and headings', (path) => {
    expect(linksIn(read(path)).filter((target) => !leadsSomewhere(path, target))).toEqual([]);
  });

  it('exists if code, manifests or OpenAPI name it', () => {
    const named = sources.flatMap((path) =>
      [...read(path).matchAll(/(?<![\w/-])docs\/[\w/-]+\.(?:md|yaml)(?:#[\w-]+)?/g)].map(([target]) => [
        path,
        target,
      ]),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(([, target = '']) => !leadsSomewhere('', target))).toEqual([]);
  });

  it.each(documents)('%s names only existing paths', (path) => {
    const named = [...withoutCode(read(path)).matchAll(/`([\w./-]+)`/g)].map(([, name = '']) => name);
    const fromRoot = named.filter((name) => /^(docs|libs|services|tools|tests|deploy|k8s)\/./.test(name));
    // A package's README names files of the package. In the README of the demo secrets, `services/` is a
    // folder beside the README.
    const fromRoom = /^(libs|services|sandbox|tools)\//.test(path)
      ? named.filter((name) => /^(src|test|public)\/./.test(name)).map((name) => join(dirname(path), name))
      : [];
    const paths = [...(path.startsWith('deploy/docker/demo-secrets/') ? [] : fromRoot), ...fromRoom];
    expect(paths.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });

  it.each(documents)('%s names only existing commands of the operator’s tool', (path) => {
    const commands = read(path).matchAll(/\.\/clinical-launch ([a-z-]+)(?: ([a-z][a-z-]+)\b)?/g);
    const unknown = [...commands].filter(([, tool = '', command]) => {
      const found = loaded.get(tool);
      if (found === undefined) return true;
      return command !== undefined && 'commands' in found && !(command in found.commands);
    });
    expect(unknown.map(([text]) => text)).toEqual([]);
  });

  it.each(documents)('%s names only existing containers and deployments', (path) => {
    const compose = read('docker-compose.yml');
    const text = read(path);
    const containers = [...text.matchAll(/docker compose (?:exec(?: -T)?|run --rm|restart) ([a-z][a-z-]+)/g)];
    const deployments = [...text.matchAll(/\bdeployment\/([a-z-]+)/g)];
    expect([
      ...containers.filter(([, name]) => !compose.includes(`\n  ${name}:\n`)),
      ...deployments.filter(([, name]) => !existsSync(join(root, `k8s/base/${name}.yaml`))),
    ]).toEqual([]);
  });

  it.each(documents)('%s names only existing npm scripts', (path) => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    const commands = read(path).matchAll(/npm (?:run (?:--silent )?([a-z:-]+)|(start|test))\b/g);
    const named = [...commands].map(([, script, word]) => script ?? word ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

/** Returns the first cells of the table below a heading of a document, without backquotes. */
function rowsBelow(path: string, heading: string): string[] {
  const [, section = ''] = read(path).split(`\n## ${heading}\n`);
  const rows = section.split('\n## ')[0]?.match(/^\|.*$/gm) ?? [];
  return rows.slice(2).map((row) => (/^\| (.*?) \|/.exec(row)?.[1] ?? '').replaceAll('`', ''));
}

describe('docs/reference/operator-files.md', () => {
  it('lists exactly the columns that catalogue import reads', () => {
    const cells = rowsBelow('docs/reference/operator-files.md', 'Catalogue');
    expect(cells.flatMap((cell) => cell.split(', ')).toSorted()).toEqual(sheetColumns.toSorted());
  });
});

describe('docs/reference/errors.md', () => {
  it.each([
    ['Codes of faults', faultCodes],
    ['Why an access token is refused', tokenReasons],
  ])('lists under “%s” exactly the codes that the services can send', (heading, codes) => {
    expect(rowsBelow('docs/reference/errors.md', heading).toSorted()).toEqual(codes.toSorted());
  });
});

describe('a generated document', () => {
  it.each(generatedDocuments)('$file is current (npm run docs)', async ({ file, text }) => {
    expect(readFileSync(file, 'utf8')).toBe(await text());
  });
});

describe('the documents of the developer portal', () => {
  it('are current, and no other files are beside them (npm run docs)', async () => {
    const pages = await developerPages();
    expect(
      pages.filter(({ file, text }) => !existsSync(file) || readFileSync(file, 'utf8') !== text),
    ).toEqual([]);
    const folder = fileURLToPath(pagesFolder);
    const written = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    expect(written.map(({ parentPath, name }) => join(parentPath, name)).toSorted()).toEqual(
      pages.map(({ file }) => fileURLToPath(file)).toSorted(),
    );
  });
});

describe('docs/reference/settings.md', () => {
  it.each(services)('lists exactly the settings that %s requires in production', async (service) => {
    const start = run(process.execPath, [mainOf(service)], {
      NODE_ENV: 'production',
      REDIS_URL: '',
      AMQP_URL: '',
      DATABASE_URL: '',
      EVENT_SIGNING_KEYS: '',
      DEVELOPER_PORTAL: 'on',
    });
    expect(await start.exited).toBe(1);
    const named = [...start.output().matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name = '']) => name);
    expect([...new Set(named)].toSorted()).toEqual(requiredSettings(service).toSorted());
  });
});
