import type { Call } from '@clinical-launch/http/call';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';

/**
 * Calls a launch URL and returns whether the partner's launch handler accepted it. Never throws, because the
 * host can still open the URL itself.
 */
export type LaunchCaller = (launchUrl: string, call: Call) => Promise<boolean>;

/**
 * Creates the function that calls launch URLs (Desktop: Launch handler). It follows no redirect and reads
 * only the status of the answer.
 */
export function createLaunchCaller(fetchOutbound: OutboundFetch): LaunchCaller {
  return async (launchUrl, call) => {
    try {
      const { status } = await fetchOutbound(new URL(launchUrl), {
        headers: { traceparent: call.traceparent },
        ignoresBody: true,
      });
      if (status < 400) return true;
      call.logger.warn({ answered: status }, 'the launch handler refused the launch');
    } catch (error) {
      call.logger.warn({ err: error }, 'the launch handler could not be called');
    }
    return false;
  };
}
