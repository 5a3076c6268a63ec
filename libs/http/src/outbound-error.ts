import type { OutboundFailure } from '@clinical-launch/contracts/refusals/delivery';

/** The error that is thrown if an outgoing request was not allowed or failed. */
export class OutboundError extends Error {
  readonly code: OutboundFailure;

  constructor(code: OutboundFailure, options?: ErrorOptions) {
    super(`The outgoing request failed: ${code}`, options);
    this.name = 'OutboundError';
    this.code = code;
  }
}

const certificateFaults = /^(CERT_|ERR_TLS_CERT|ERR_SSL|EPROTO|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/;

/** Converts an error of the network or of TLS to a failure code. */
export function failureOf(cause: unknown): OutboundFailure {
  const { code, syscall } = cause as { code?: unknown; syscall?: unknown };
  if (syscall === 'getaddrinfo') return 'unresolved';
  if (typeof code !== 'string') return 'unreachable';
  if (code.startsWith('HPE_')) return 'bad_answer';
  return certificateFaults.test(code) ? 'untrusted_certificate' : 'unreachable';
}
