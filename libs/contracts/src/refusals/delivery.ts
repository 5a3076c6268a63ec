/** The reason why a request to another system failed. */
export type OutboundFailure =
  /** The host name has no address, or only addresses that are not allowed. */
  | 'unresolved'
  | 'address_refused'
  /** The address is http and outside the allowed networks. */
  | 'insecure_address'
  | 'unreachable'
  | 'untrusted_certificate'
  | 'timeout'
  /** The answer is not HTTP, or its body is larger than `maxBytes`. */
  | 'bad_answer'
  /** The caller's signal aborted the request. */
  | 'interrupted';

/**
 * The reason why a delivery to a registered address failed, as in the operator's tool and the audit trail.
 */
export type DeliveryFailure =
  /** The receiver has no address in the registry any more. */
  | 'unregistered'
  /** The request was refused, or failed. */
  | Exclude<OutboundFailure, 'interrupted'>
  /** The receiver answered with a status other than 2xx. */
  | 'redirected'
  | 'not_accepted'
  /** The receiver answered 410, so it accepts no more deliveries. */
  | 'gone';

/** The reason why a document was not delivered. */
export type DocumentFailure =
  | DeliveryFailure
  /** No secret of the receiver is valid, so the message could not be signed. */
  | 'no_usable_secret';
