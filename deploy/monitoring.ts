/**
 * `npm run monitoring`: writes the rules of the service level objectives for Prometheus, and the dashboards
 * for Grafana, from their tables in `deploy/monitoring/`. A test fails if a file differs from them.
 */
import { writeFileSync } from 'node:fs';
import { stringifyYaml } from '@redocly/openapi-core';
import { dashboards } from './monitoring/dashboards.ts';
import { sloRules } from './monitoring/slos.ts';

/** Returns the content of each generated file, by its path in the repository. */
export function generatedMonitoring(): ReadonlyMap<string, string> {
  return new Map([
    [
      'deploy/prometheus/slo.yml',
      `# Written by \`npm run monitoring\`. Change deploy/monitoring/slos.ts instead.\n${stringifyYaml(sloRules())}`,
    ],
    ...dashboards.map(
      (dashboard) =>
        [
          `deploy/grafana/dashboards/${dashboard.uid}.json`,
          `${JSON.stringify(dashboard, undefined, 2)}\n`,
        ] as const,
    ),
  ]);
}

if (import.meta.main) {
  for (const [path, text] of generatedMonitoring())
    writeFileSync(new URL(`../${path}`, import.meta.url), text);
}
