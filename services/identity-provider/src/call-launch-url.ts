import type { Call } from '@clinical-launch/service';

/** Calls a launch URL; whether the partner's launch handler took it. Never throws: the host can still open it. */
export type LaunchCaller = (launchUrl: string, call: Call) => Promise<boolean>;

const timeoutMs = 5000;

/**
 * Calls launch URLs from here (Desktop: Launch handler). Only ever given a registered address; redirects are not followed,
 * so no answer leads elsewhere, and nothing of the answer but its status is looked at.
 */
export const callLaunchUrl: LaunchCaller = async (launchUrl, call) => {
  try {
    const response = await fetch(launchUrl, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { traceparent: call.traceparent },
    });
    await response.body?.cancel();
    if (response.status < 400) return true;
    call.logger.warn({ answered: response.status }, 'the launch handler refused the launch');
  } catch (error) {
    call.logger.warn({ err: error }, 'the launch handler could not be called');
  }
  return false;
};
