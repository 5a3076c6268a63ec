const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/;

/**
 * Returns whether an authorization request may contain this redirect URI. It must equal the registered URI,
 * character for character. A loopback address may have any port (RFC 8252 section 7.3), because a native
 * application listens on any free port.
 */
export function isRegisteredRedirect(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  const [, host, , rest] = loopback.exec(registered) ?? [];
  const [, requestedHost, requestedPort = '', requestedRest] = loopback.exec(requested) ?? [];
  return (
    host !== undefined && host === requestedHost && rest === requestedRest && Number(requestedPort) <= 65_535
  );
}

/**
 * Returns whether the service may call a registered launchUrl itself. In production, the launchUrl must be
 * https. A launch identifier is therefore never sent in clear text, and the service never calls its own
 * loopback.
 */
export function isCallable(launchUrl: string, { isProduction }: { isProduction: boolean }): boolean {
  return launchUrl.startsWith('https://') || (!isProduction && launchUrl.startsWith('http://'));
}

/** The `source` of this service's events (CloudEvents section 3.1.1). */
export const eventSource = '/identity-provider';
