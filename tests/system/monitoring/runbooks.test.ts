import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { alerts, root } from './rule-files.ts';

const folder = '{{ $externalLabels.runbooks }}/';
const linked = new Set(alerts().map(({ annotations }) => annotations['runbook_url'] ?? ''));
const pages = globSync('docs/runbooks/*.md', { cwd: root.pathname })
  .map((path) => basename(path))
  .filter((name) => name !== 'README.md');

describe('the runbooks', () => {
  it('have exactly one page for each alert', () => {
    expect([...linked].toSorted()).toEqual(pages.map((page) => folder + page).toSorted());
  });

  it.each(alerts())('have the page that $alert links to', ({ alert, annotations }) => {
    const name = alert.replaceAll(/\B[A-Z]/g, '-$&').toLowerCase();
    expect(annotations['runbook_url']).toBe(`${folder}${name}.md`);
  });
});

describe('docker-compose.yml', () => {
  it('mounts every file of Prometheus and Alertmanager', () => {
    const compose = readFileSync(new URL('docker-compose.yml', root), 'utf8');
    const mounted = compose.matchAll(/file: \.\/(deploy\/telemetry\/(?:prometheus|alertmanager)\/.+?) \}/g);
    const files = globSync('deploy/telemetry/{prometheus,alertmanager}/*', { cwd: root.pathname });
    expect(new Set([...mounted].map(([, path]) => path))).toEqual(new Set(files));
  });
});
