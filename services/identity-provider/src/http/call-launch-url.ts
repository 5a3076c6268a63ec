import type { Call, OutboundFetch } from '@clinical-launch/service/http';

/** Calls a launch URL; whether the partner's launch handler took it. Never throws: the host can still open it. */
export type LaunchCaller = (launchUrl: string, call: Call) => Promise<boolean>;

/**
 * Creates what calls launch URLs from here (Desktop: Launch handler). Only ever given a registered address; redirects
 * are not followed, and only the status of the answer is read.
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
