export type PagePolicy = {
  /** The origins that may frame the page. */
  readonly frameAncestors?: readonly string[];
  /** The hashes of inline scripts in the form of CSP: `'sha256-...'`. */
  readonly scriptHashes?: readonly string[];
  /** The origins, in addition to its own, to which its forms may lead, directly or by redirects. */
  readonly formActions?: readonly string[];
};

/**
 * Returns the headers of every page: no content of other origins, no referrer, no caching.
 * Cross-Origin-Opener-Policy is omitted, because the result page must access the window of the PMS that
 * opened it.
 */
export function pageHeaders({
  frameAncestors = [],
  scriptHashes = [],
  formActions = [],
}: PagePolicy = {}): Record<string, string> {
  const ancestors = frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ');
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${scriptHashes.join(' ')}`.trim(),
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "frame-src 'self'",
    `form-action 'self' ${formActions.join(' ')}`.trim(),
    "base-uri 'none'",
    `frame-ancestors ${ancestors}`,
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    ...(frameAncestors.length === 0 ? { 'X-Frame-Options': 'DENY' } : {}),
  };
}
