import { findExemplar } from '@clinical-launch/runtime/metrics';
import { DataPointType } from '@clinical-launch/runtime/open-telemetry';
import type {
  DataPoint,
  Histogram,
  HistogramMetricData,
  MetricData,
  ResourceMetrics,
} from '@opentelemetry/sdk-metrics';

/*
 * The text that Prometheus scrapes, as defined in "Prometheus and OpenMetrics Compatibility" of
 * OpenTelemetry: names end with their unit. OpenTelemetry's own exporter writes neither units nor exemplars.
 */

/** The media types of the two formats. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8';

type Family = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly unit: string;
  readonly metrics: MetricData[];
};

/** Writes metrics in OpenMetrics 1.0, with exemplars, or in the older text format of Prometheus. */
export function writeMetrics(collected: ResourceMetrics, isOpenMetrics: boolean): string {
  const lines = writeTarget(collected, isOpenMetrics);
  // Every series names its service, so that it differs from series of other applications with the same name,
  // whichever target labels Prometheus adds.
  const { attributes } = collected.resource;
  const names = ['service.namespace', 'service.name'];
  const labels = labelsWith(Object.fromEntries(names.map((name) => [name, attributes[name]])));
  for (const family of familiesOf(collected)) {
    const { name, type, unit, metrics } = family;
    const suffix = type === 'counter' ? '_total' : '';
    const declared = isOpenMetrics ? name : name + suffix;
    lines.push(`# HELP ${declared} ${escapeText(metrics[0]?.descriptor.description ?? '')}`);
    lines.push(`# TYPE ${declared} ${type}`);
    if (isOpenMetrics && unit !== '') lines.push(`# UNIT ${declared} ${unit}`);
    for (const metric of metrics) lines.push(...writeSeries({ name, suffix, labels, isOpenMetrics }, metric));
  }
  if (isOpenMetrics) lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

type Labels = (attributes: Readonly<Record<string, unknown>>) => string;

const labelsWith =
  (common: Readonly<Record<string, unknown>>): Labels =>
  (attributes) =>
    labelsText({ ...common, ...attributes });

type Writing = {
  readonly name: string;
  readonly suffix: string;
  readonly labels: Labels;
  readonly isOpenMetrics: boolean;
};

function writeSeries(writing: Writing, metric: MetricData): string[] {
  if (metric.dataPointType === DataPointType.HISTOGRAM) return [...writeHistogram(writing, metric)];
  const { name, suffix, labels } = writing;
  return metric.dataPoints.map(
    ({ attributes, value }) => `${name}${suffix}${labels(attributes)} ${numberText(Number(value))}`,
  );
}

function writeTarget({ resource }: ResourceMetrics, isOpenMetrics: boolean): string[] {
  return [
    `# HELP target${isOpenMetrics ? '' : '_info'} The process that is measured`,
    `# TYPE target${isOpenMetrics ? ' info' : '_info gauge'}`,
    `target_info${labelsText(resource.attributes)} 1`,
  ];
}

function familiesOf({ scopeMetrics }: ResourceMetrics): Iterable<Family> {
  const families = new Map<string, Family>();
  for (const metric of scopeMetrics.flatMap(({ metrics }) => metrics)) {
    const type = typeOf(metric);
    if (type === undefined) continue;
    const unit = unitOf(metric.descriptor.unit, type);
    const name = nameOf(metric.descriptor.name, unit);
    const family = families.get(name) ?? { name, type, unit, metrics: [] };
    // Two instruments with the same name but different types are a defect. Both together would make the whole
    // text invalid.
    if (family.type !== type) continue;
    family.metrics.push(metric);
    families.set(name, family);
  }
  return families.values();
}

function typeOf(metric: MetricData): Family['type'] | undefined {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return metric.isMonotonic ? 'counter' : 'gauge';
    case DataPointType.GAUGE:
      return 'gauge';
    case DataPointType.HISTOGRAM:
      return 'histogram';
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      return undefined;
  }
}

/** The names that Prometheus uses for UCUM units. A UCUM annotation in braces is not a unit. */
const unitNames: Readonly<Record<string, string>> = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

function unitOf(unit: string, type: Family['type']): string {
  if (unit === '1') return type === 'gauge' ? 'ratio' : '';
  return unit.startsWith('{') ? '' : (unitNames[unit] ?? unit);
}

function nameOf(name: string, unit: string): string {
  const plain = name.replace(/\W+/g, '_').replace(/_total$/, '');
  return unit === '' || plain.endsWith(`_${unit}`) ? plain : `${plain}_${unit}`;
}

function* writeHistogram(
  { name, labels, isOpenMetrics }: Writing,
  { descriptor, dataPoints }: HistogramMetricData,
): Iterable<string> {
  for (const { attributes, value } of dataPoints) {
    const { boundaries, counts } = value.buckets;
    let count = 0;
    for (const [bucket, inBucket] of counts.entries()) {
      count += inBucket;
      const le = boundText(boundaries[bucket]);
      const exemplar = isOpenMetrics ? exemplarText(descriptor.name, attributes, bucket) : '';
      yield `${name}_bucket${labels({ ...attributes, le })} ${count}${exemplar}`;
    }
    yield `${name}_count${labels(attributes)} ${value.count}`;
    yield `${name}_sum${labels(attributes)} ${numberText(value.sum ?? 0)}`;
  }
}

function exemplarText(
  metric: string,
  attributes: DataPoint<Histogram>['attributes'],
  bucket: number,
): string {
  const exemplar = findExemplar(metric, attributes, bucket);
  if (exemplar === undefined) return '';
  const { traceId, spanId, value, at } = exemplar;
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${numberText(value)} ${at / 1000}`;
}

/**
 * Returns the bound of a bucket as a float (OpenMetrics 1.0, "Numbers"), so that both formats have the same
 * series.
 */
function boundText(bound: number | undefined): string {
  if (bound === undefined || bound === Number.POSITIVE_INFINITY) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

function labelsText(attributes: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${name.replace(/\W+/g, '_')}="${escapeText(String(value)).replaceAll('"', '\\"')}"`,
    );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escapeText = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
