import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parseYaml } from '@redocly/openapi-core';
import { pageOf, runbookOf } from '../../monitoring/slos.ts';
import { generatedMonitoring } from '../../monitoring.ts';
import { tools } from '../../ops/src/tools.ts';
import { alerts, root } from './rule-files.ts';

const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const names = [...new Set(alerts().map(({ alert }) => alert))];
const pages = globSync('docs/runbooks/*.md', { cwd: root.pathname })
  .map((path) => path.replace('docs/runbooks/', ''))
  .filter((name) => name !== 'README.md');

describe('an alert', () => {
  it.each(alerts().map((alert) => [`${alert.alert} (${alert.labels.severity})`, alert] as const))(
    '%s says how severe it is and what it means, and links to its page',
    (_name, { alert, labels, annotations }) => {
      expect(labels.severity).toMatch(/^(page|ticket)$/);
      expect(annotations.summary).toMatch(/.{20}/);
      expect(annotations.description).toMatch(/.{20}\.$/);
      expect(annotations.runbook_url).toBe(runbookOf(alert));
    },
  );

  it('has a page, and each page has an alert and a line in the index', () => {
    expect(pages.toSorted()).toEqual(names.map(pageOf).toSorted());
    const listed = [...read('docs/runbooks/README.md').matchAll(/^\| \[\w+\]\(([\w-]+\.md)\) \|/gm)];
    expect(new Set(listed.map(([, page]) => page))).toEqual(new Set(pages));
  });
});

const compose = parseYaml(read('docker-compose.yml')) as { services: Record<string, unknown> };
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
/** The tool of the audit trail comes with its verification. */
const knownTools = new Set([...Object.keys(tools), 'audit']);

/** Returns what is wrong with a command: a script, a tool or a container that does not exist. */
function faultOf(command: string): string | undefined {
  const [program, ...args] = command.split(' ');
  const [first = '', ...rest] = args;
  switch (program) {
    case 'npm': {
      const [script = '', , tool = ''] = rest;
      if (!(script in scripts)) return `no script ${script}`;
      return script === 'ops' && !knownTools.has(tool) ? `no tool ${tool}` : undefined;
    }
    case 'docker': {
      if (first === 'stats') return undefined;
      const service = rest.slice(1).find((word) => !/^-|^\d+[mh]$/.test(word));
      return service === undefined || service in compose.services ? undefined : `no container ${service}`;
    }
    case 'openssl':
      return undefined;
    default:
      return `no program ${program}`;
  }
}

describe('a page', () => {
  it.each(pages)('%s has its parts, and three commands that exist', (page) => {
    const text = read(`docs/runbooks/${page}`);
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Meaning', 'Impact', 'First commands', 'Causes', 'What to do']);
    expect(names.map((name) => `# ${name}`)).toContain(text.split('\n')[0]);
    const commands = [...text.matchAll(/^ {4}(\S.*)$/gm)].map(([, command = '']) => command);
    expect(commands).toHaveLength(3);
    expect(commands.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
    expect([...text.matchAll(/^- /gm)].length).toBeGreaterThan(1);
  });
});

describe('what is generated from tables', () => {
  it.each([...generatedMonitoring()])('%s is as `npm run monitoring` writes it', (path, text) => {
    expect(read(path)).toBe(text);
  });

  it('are all dashboards', () => {
    const paths = globSync('deploy/grafana/dashboards/*', { cwd: root.pathname });
    expect(paths.filter((path) => !generatedMonitoring().has(path))).toEqual([]);
  });
});

describe('the compose file', () => {
  it('mounts every file of Prometheus and Alertmanager', () => {
    const mounted = [
      ...read('docker-compose.yml').matchAll(/file: \.\/(deploy\/(?:prometheus|alertmanager)\/.+?) \}/g),
    ];
    const files = globSync('deploy/{prometheus,alertmanager}/*', { cwd: root.pathname });
    expect(new Set(mounted.map(([, path]) => path))).toEqual(new Set(files));
    expect(mounted.every(([, path = '']) => existsSync(new URL(path, root)))).toBe(true);
  });
});
