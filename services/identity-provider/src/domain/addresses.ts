const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/;

/**
 * Returns whether an authorization request may name this redirect URI. It must equal the registered URI,
 * character for character. A loopback address may have any port (RFC 8252 section 7.3), because a native
 * application uses whichever port is free.
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
 * Returns whether the service may call a registered launchUrl itself. In production it must be https, so that
 * a launch identifier never travels in the clear and the service never calls its own loopback.
 */
export function isCallable(launchUrl: string, { isProduction }: { isProduction: boolean }): boolean {
  return launchUrl.startsWith('https://') || (!isProduction && launchUrl.startsWith('http://'));
}

/** The `source` of this service's events (CloudEvents section 3.1.1). */
export const eventSource = '/identity-provider';
