/** Why a request to another system failed. */
export type OutboundFailure =
  /** The name resolves to no address, or only to addresses that are not allowed. */
  | 'unresolved'
  | 'address_refused'
  /** http, outside the allowed networks. */
  | 'insecure_address'
  | 'unreachable'
  | 'untrusted_certificate'
  | 'timeout'
  /** The answer is not HTTP, or its body is larger than `maxBytes`. */
  | 'bad_answer'
  /** The caller's signal ended the request. */
  | 'interrupted';

/**
 * Why an attempt to deliver to a registered address failed, in the words that operators and the audit trail
 * read.
 */
export type DeliveryFailure =
  /** The receiver no longer has an address in the registry. */
  | 'unregistered'
  /** The request was refused, or failed. */
  | Exclude<OutboundFailure, 'interrupted'>
  /** The receiver answered with a status other than 2xx. */
  | 'redirected'
  | 'not_accepted'
  /** The receiver answered 410: it wants no more of these. */
  | 'gone';

/** Why a document was not delivered. */
export type DocumentFailure =
  | DeliveryFailure
  /** No secret of the receiver is valid, so the message could not be signed. */
  | 'no_usable_secret';
