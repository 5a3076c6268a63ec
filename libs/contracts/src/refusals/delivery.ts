/** The reason why a request of the platform to another system failed. */
export type OutboundFailure =
  /** DNS returned no address for the host name. */
  | 'unresolved'
  /** The host name has only addresses in networks that are not allowed. */
  | 'address_refused'
  /** The URL uses http, and the host is not in the allowed networks. */
  | 'insecure_address'
  | 'unreachable'
  | 'untrusted_certificate'
  | 'timeout'
  /** The answer is not HTTP, or its body is larger than `maxBytes`. */
  | 'bad_answer'
  /** The caller's signal aborted the request. */
  | 'interrupted';

/**
 * The reason why a delivery to a registered address failed. The operator's tool and the audit trail show this
 * reason.
 */
export type DeliveryFailure =
  /** The registry no longer contains an address of the receiver. */
  | 'unregistered'
  /** The request was not allowed, failed, or received no valid answer. */
  | Exclude<OutboundFailure, 'interrupted'>
  /** The receiver answered with a redirect (3xx). */
  | 'redirected'
  /** The receiver answered with a status other than 2xx, 3xx or 410. */
  | 'not_accepted'
  /** The receiver answered 410, which means that it accepts no more deliveries. */
  | 'gone';

/** The reason why an order document was not delivered. */
export type DocumentFailure =
  | DeliveryFailure
  /** The message could not be signed, because the receiver has no valid secret. */
  | 'no_usable_secret';
