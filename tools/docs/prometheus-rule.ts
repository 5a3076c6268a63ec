import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

const folder = new URL('../../deploy/telemetry/prometheus/', import.meta.url);

/** The path of the rules as a Kubernetes object. The Prometheus Operator reads no rule files. */
export const prometheusRuleFile = new URL(
  '../../k8s/components/monitoring/prometheus-rule.yaml',
  import.meta.url,
);

/**
 * Returns the alert rules and the objectives, which Prometheus also loads from files, as one PrometheusRule.
 */
export function prometheusRuleText(): string {
  const groups = ['rules.yml', 'slo.yml'].flatMap((name) => {
    const file = parse(readFileSync(new URL(name, folder), 'utf8')) as { groups: unknown[] };
    return file.groups;
  });
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'clinical-launch' },
    spec: { groups },
  };
  const text = stringify(rule, { aliasDuplicateObjects: false, lineWidth: 0 });
  return `# Written by \`npm run docs\` from rules.yml and slo.yml in deploy/telemetry/prometheus.\n${text}`;
}
