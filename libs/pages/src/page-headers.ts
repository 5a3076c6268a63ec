export type PagePolicy = {
  /** The origins that may show the page in a frame. By default, none. */
  readonly frameAncestors?: readonly string[];
  /** The hashes of inline scripts, as CSP source expressions: `'sha256-...'`. */
  readonly scriptHashes?: readonly string[];
  /**
   * The origins to which forms of the page may lead, directly or by redirects, in addition to its own origin.
   */
  readonly formActions?: readonly string[];
};

/**
 * Returns the headers of every page. They forbid content of other origins, referrers and caching. They omit
 * Cross-Origin-Opener-Policy, because the result page must access the PMS window that opened it.
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
    'X-Robots-Tag': 'noindex',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    ...(frameAncestors.length === 0 ? { 'X-Frame-Options': 'DENY' } : {}),
  };
}
