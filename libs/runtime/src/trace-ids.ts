import { randomBytes } from 'node:crypto';

/** The ids of a span that does not draw them. */
export type SpanIds = { readonly traceId: string; readonly spanId: string };

let chosen: SpanIds | undefined;

/** Draws the ids of traces and spans (`IdGenerator` of the SDK), or gives the chosen ones. */
export const traceIds = {
  generateTraceId: (): string => chosen?.traceId ?? randomBytes(16).toString('hex'),
  generateSpanId: (): string => chosen?.spanId ?? randomBytes(8).toString('hex'),
};

/** Starts a span with these ids. The API has no parameter for them. */
export function withIds<Span>(ids: SpanIds, start: () => Span): Span {
  chosen = ids;
  try {
    return start();
  } finally {
    chosen = undefined;
  }
}
