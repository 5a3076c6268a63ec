import { startPlatform } from '@clinical-launch/platform';
import { type Clock, systemClock } from '@clinical-launch/service';
import { createRecordedLogger } from '@clinical-launch/testing';

/** The whole platform on a free port, with its log lines. */
export async function startPlatformForTest({ clock = systemClock }: { clock?: Clock } = {}) {
  const { logger, lines } = createRecordedLogger('info');
  const platform = await startPlatform({ environment: { PORT: '0' }, clock, logger });
  const url = platform.publicUrl;

  return {
    ...platform,
    url,
    lines,
    /** An access token of a client of the demo registry. */
    async tokenOf(clientId: string): Promise<string> {
      const response = await fetch(`${url}/idp/demo/oauth2/v2.0/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: `${clientId}-secret`,
          scope: 'api://clinical-launch/.default',
        }),
      });
      const { access_token: token } = (await response.json()) as { access_token: string };
      return token;
    },
    /** The audit trail's story of a GUID, once it tells of everything that is waited for. */
    async storyOf(
      correlationId: string,
      wanted: readonly string[],
      token: string,
    ): Promise<{ type: string; data: object }[]> {
      for (const giveUpAt = Date.now() + 60_000; ; ) {
        const response = await fetch(`${url}/audit/events?correlationId=${correlationId}`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        const { events } = (await response.json()) as { events: { type: string; data: object }[] };
        if (wanted.every((type) => events.some((event) => event.type === type))) return events;
        if (Date.now() > giveUpAt)
          throw new Error(`There is only ${events.map(({ type }) => type).join(', ')}`);
      }
    },
  };
}
