export type PagePolicy = {
  /** Origins that may frame the page. */
  readonly frameAncestors?: readonly string[];
  /** Hashes of inline scripts, as CSP writes them: `'sha256-...'`. */
  readonly scriptHashes?: readonly string[];
  /** Origins that its forms may lead to, besides its own; redirects count. */
  readonly formActions?: readonly string[];
};

/**
 * Returns the headers of every page: no content from elsewhere, no referrer, no store.
 * Cross-Origin-Opener-Policy is omitted on purpose: the result page must reach the window of the PMS that
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
