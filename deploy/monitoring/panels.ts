/** The forms of panels and dashboards of Grafana, as far as the dashboards of the platform use them. */

const datasource = { type: 'prometheus', uid: 'prometheus' };

/** A line or a figure: an expression in PromQL and its name in the legend. */
export type Query = readonly [expr: string, legend: string];

export type Panel = {
  readonly title: string;
  readonly description?: string;
  readonly queries: readonly Query[];
  /** A unit of Grafana: `s`, `bytes`, `percentunit`, `reqps`, `short`. */
  readonly unit: string;
  /** Whether it shows the latest figure; a curve otherwise. */
  readonly isFigure?: boolean;
  /** Whether it shows exemplars, which link to traces. */
  readonly hasExemplars?: boolean;
  /** Columns of 24. */
  readonly width?: number;
  /** Values from which a figure is yellow and red; descending if less is worse. */
  readonly thresholds?: readonly [yellow: number, red: number];
};

/** A row of panels with a heading. */
export type Row = { readonly title: string; readonly panels: readonly Panel[] };

type Variable = { readonly name: string; readonly label: string; readonly query: string };

type DashboardPlan = {
  readonly uid: string;
  readonly title: string;
  readonly variables?: readonly Variable[];
  readonly from?: string;
  readonly rows: readonly Row[];
};

/** The content of a dashboard's file. */
export type Dashboard = {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly object[];
} & Record<string, unknown>;

const tag = 'clinical-launch';

/** Creates a dashboard. Panels fill each row from left to right. */
export function dashboard({ uid, title, variables = [], from = 'now-1h', rows }: DashboardPlan): Dashboard {
  return {
    uid,
    title,
    tags: [tag],
    timezone: 'browser',
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    refresh: '30s',
    time: { from, to: 'now' },
    annotations: { list: [alertsOverTime] },
    links: [{ type: 'dashboards', title: 'Clinical Launch', tags: [tag], asDropdown: true, keepTime: true }],
    templating: { list: variables.map(variableOf) },
    panels: placed(rows),
  };
}

/** Shows in each curve when an alert fired. */
const alertsOverTime = {
  name: 'Alerts',
  enable: true,
  hide: false,
  datasource,
  iconColor: 'red',
  expr: 'ALERTS{alertstate="firing"}',
  titleFormat: '{{alertname}}',
};

function variableOf({ name, label, query }: Variable) {
  return {
    name,
    label,
    type: 'query',
    datasource,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
    sort: 1,
  };
}

const figureHeight = 4;
const curveHeight = 8;

function placed(rows: readonly Row[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: inRow } of rows) {
    panels.push(heading(title, y, panels.length + 1));
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of inRow) {
      const width = panel.width ?? (panel.isFigure === true ? 6 : 12);
      if (x + width > 24) {
        x = 0;
        y += height;
      }
      height = panel.isFigure === true ? figureHeight : curveHeight;
      panels.push(panelOf(panel, { x, y, w: width, h: height }, panels.length + 1));
      x += width;
    }
    y += height;
  }
  return panels;
}

const heading = (title: string, y: number, id: number) => ({
  id,
  type: 'row',
  title,
  collapsed: false,
  gridPos: { x: 0, y, w: 24, h: 1 },
  panels: [],
});

function panelOf(panel: Panel, gridPos: object, id: number): object {
  const { title, description, queries, isFigure = false } = panel;
  return {
    id,
    type: isFigure ? 'stat' : 'timeseries',
    title,
    ...(description === undefined ? {} : { description }),
    datasource,
    gridPos,
    fieldConfig: { defaults: fieldOf(panel), overrides: [] },
    options: isFigure ? figureOptions : curveOptions,
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
      range: true,
      editorMode: 'code',
      ...(panel.hasExemplars === true ? { exemplar: true } : {}),
    })),
  };
}

function fieldOf({ unit, isFigure = false, thresholds }: Panel) {
  return {
    unit,
    ...(unit === 'percentunit' ? {} : { min: 0 }),
    ...(thresholds === undefined
      ? { color: { mode: 'palette-classic' } }
      : { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps: stepsOf(thresholds) } }),
    ...(isFigure ? {} : { custom: curveStyle }),
  };
}

function stepsOf([yellow, red]: readonly [number, number]) {
  return yellow < red
    ? [
        { color: 'green', value: null },
        { color: 'yellow', value: yellow },
        { color: 'red', value: red },
      ]
    : [
        { color: 'red', value: null },
        { color: 'yellow', value: red },
        { color: 'green', value: yellow },
      ];
}

const curveStyle = {
  drawStyle: 'line',
  lineWidth: 1,
  fillOpacity: 5,
  showPoints: 'never',
  stacking: { mode: 'none', group: 'A' },
};
const figureOptions = {
  reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
  colorMode: 'value',
  graphMode: 'area',
  textMode: 'auto',
  orientation: 'auto',
  justifyMode: 'auto',
};
const curveOptions = {
  legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
  tooltip: { mode: 'multi', sort: 'desc' },
};

/** Returns the increase of a counter per second, over the interval of the dashboard. */
export const rate = (series: string) => `rate(${series}[$__rate_interval])`;
/** The histogram of answered requests (semantic conventions for HTTP servers). */
export const requests = 'http_server_request_duration_seconds';

/** The middle request, and the slower ones of a hundred, with exemplars that link to traces. */
export function latency(selector: string, by: string, title = 'Latency'): Panel {
  const quantile = (share: number): Query => [
    `histogram_quantile(${share}, sum by (${by}, le) (${rate(`${requests}_bucket${selector}`)}))`,
    `{{${by}}} p${share * 100}`,
  ];
  return {
    title,
    description: 'Each dot is a request: it leads to its trace',
    queries: [quantile(0.5), quantile(0.99)],
    unit: 's',
    hasExemplars: true,
  };
}
