import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const ExportTraceServiceRequest = protobuf
  .loadSync(fileURLToPath(new URL('traces.proto', import.meta.url)))
  .lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest');

/** A span as the collector received it. */
export type ReceivedSpan = {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, Value | undefined>>;
  readonly hasFailed: boolean;
};

/** A collector that receives spans and log records by OTLP over HTTP with protobuf. */
export type Collector = {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Returns all received data as text, to search for data that must not be exported. */
  text(): string;
  stop(): Promise<void>;
};

/** Starts a collector on a free port. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    const sent = `${request.method} ${request.url} ${request.headers['content-type']}`;
    if (body !== undefined && sent === 'POST /v1/logs application/x-protobuf') {
      texts.push(body.toString());
      return void response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    }
    if (body === undefined || sent !== 'POST /v1/traces application/x-protobuf')
      return void response.writeHead(400).end();
    const received = ExportTraceServiceRequest.toObject(ExportTraceServiceRequest.decode(body), {
      longs: String,
      bytes: String,
      defaults: true,
    });
    texts.push(JSON.stringify(received));
    spans.push(...spansIn(received));
    response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    text: () => texts.join('\n'),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** `ExportTraceServiceRequest` in its JSON form, in which ids are Base64. */
type Sent = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly SentAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
};
type Value = string | number | boolean;
type SentAttribute = { readonly key: string; readonly value: Readonly<Record<string, Value | null>> };
type SentSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: readonly SentAttribute[];
  readonly status: { readonly code: number } | null;
};

const failedStatus = 2;

function spansIn(received: unknown): ReceivedSpan[] {
  const { resourceSpans } = received as Sent;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, links, attributes, status, ...ids }) => ({
        service: `${attributesOf(resource.attributes)['service.name']}`,
        name,
        traceId: hexOf(ids.traceId),
        spanId: hexOf(ids.spanId),
        parentSpanId: hexOf(ids.parentSpanId),
        links: links.map(({ traceId, spanId }) => ({ traceId: hexOf(traceId), spanId: hexOf(spanId) })),
        attributes: attributesOf(attributes),
        hasFailed: status?.code === failedStatus,
      })),
    ),
  );
}

const hexOf = (base64: string) => Buffer.from(base64, 'base64').toString('hex');

const attributesOf = (attributes: readonly SentAttribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value).find(isGiven)]));

/** A protobuf union has one member. The decoder leaves the other members out or sets them to null. */
const isGiven = (value: Value | null) => value !== null;
