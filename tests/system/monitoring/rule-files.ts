import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The root folder of the repository. */
export const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** A Prometheus rule, which records a series or fires an alert. */
export type Rule = {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

type RuleFile = { readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[] };

/** The names of the rule files, as Prometheus loads them. */
export const ruleFiles = ['rules.yml', 'slo.yml'] as const;

/** Returns the text of one of Prometheus's configuration files. */
export const prometheusFile = (name: string) => read(`deploy/telemetry/prometheus/${name}`);

/** Returns every rule. */
export const rules = (): Rule[] =>
  ruleFiles.flatMap((name) => {
    const { groups } = parse(prometheusFile(name)) as RuleFile;
    return groups.flatMap((group) => [...group.rules]);
  });

/** An alerting rule. Two rules may have the same name with different severities. */
export type Alert = Required<Rule>;

/** Returns every alerting rule. */
export const alerts = (): Alert[] => rules().filter((rule): rule is Alert => rule.alert !== undefined);

type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] };

/** Returns every expression of the dashboards, with the name of its panel. */
export function dashboardExpressions(): { readonly panel: string; readonly expr: string }[] {
  return globSync('deploy/telemetry/grafana/dashboards/*.json', { cwd: root.pathname }).flatMap((path) => {
    const { title, panels } = JSON.parse(read(path)) as { title: string; panels: Panel[] };
    return panels.flatMap((panel) =>
      (panel.targets ?? []).map(({ expr }) => ({ panel: `${title} / ${panel.title}`, expr })),
    );
  });
}

/** The keywords and functions of PromQL, which are not names of series. */
const words = new Set(
  'sum min max count by or and unless on ignoring without bool group_left offset'.split(' '),
);

/** Returns the selectors of an expression: names of series with their matchers. */
export function selectorsIn(expr: string): string[] {
  // Label lists, and durations with their brackets, contain names too.
  const bare = expr
    .replaceAll(/\b(by|on|without|ignoring)\s*\([^)]*\)/g, '$1 ')
    .replaceAll(/\[[^\]]*\]/g, '');
  return [
    ...bare.matchAll(/(?<![\w:".])([a-zA-Z_:][\w:]*)(\{(?:"(?:[^"\\]|\\.)*"|[^}"])*\})?(?!\s*\()(?![\w:"])/g),
  ]
    .filter(([, name = '']) => !words.has(name))
    .map(([selector]) => selector);
}
