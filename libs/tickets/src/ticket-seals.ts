import type { Sealer } from '@clinical-launch/crypto/sealing';
import { type Chain, nameTicket } from './ticket-text.ts';
import {
  type FoundTicket,
  type Successor,
  type TicketKind,
  type TicketPurpose,
  ticketPurposes,
} from './tickets.ts';

/** The part of a logger that is needed; pino's has it. */
export type SealLogger = { error(fields: object, message: string): void };

/** The sealers of the kinds that a process issues, finds or redeems. */
export type TicketSealers = Readonly<Partial<Record<TicketPurpose, Sealer>>>;

/** A presented ticket, with the chain that its text names. */
export type PresentedTicket = { readonly kind: TicketKind; readonly text: string; readonly chain: Chain };

/** The stored content of a ticket. */
export type SealedContent = {
  readonly correlationId: string;
  readonly context: string | undefined;
  readonly detail: string | undefined;
  /** Milliseconds until the chain ends, if it has an end. */
  readonly endsInMs: string | undefined;
};

const contextPurpose = 'ticket-context';
const detailPurpose = 'ticket-detail';
const noticePurpose = 'ticket-notice';
const successorPurpose = 'ticket-successor';

/**
 * Seals the content of tickets. A context belongs to its chain (correlation id and chain secret), a detail to
 * its ticket (kind and text). Only a holder of a ticket knows the chain secret. So an attacker who can write
 * to the store but holds no ticket of a chain can neither open its content nor move it to another ticket.
 */
export class TicketSeals {
  readonly #sealers: TicketSealers;
  readonly #logger: SealLogger | undefined;

  constructor(sealers: TicketSealers, logger?: SealLogger) {
    this.#sealers = sealers;
    this.#logger = logger;
  }

  /** Returns the id of the key that currently seals and derives tickets of a kind. */
  currentKeyId(kind: TicketKind): string {
    return this.#sealer(kind).currentKeyId;
  }

  sealContext({ kind, chain }: Omit<PresentedTicket, 'text'>, context: unknown): string {
    return this.#sealer(kind).seal(contextPurpose, context, placeOfChain(chain));
  }

  sealDetail({ kind, text }: Omit<PresentedTicket, 'chain'>, detail: unknown): string {
    return this.#sealer(kind).seal(detailPurpose, detail, [kind, text]);
  }

  sealNotice({ kind, text }: Omit<PresentedTicket, 'chain'>, notice: unknown): string {
    return this.#sealer(kind).seal(noticePurpose, notice, [kind, text]);
  }

  /**
   * Returns the successor's ticket: drawn, or computed from its predecessor under the current key or the
   * given one.
   */
  nameSuccessor({ kind, isDerived }: Successor, { text, chain }: PresentedTicket, keyId?: string): string {
    if (!isDerived) return nameTicket(chain);
    return nameTicket(chain, this.#sealer(kind).derive(successorPurpose, `${kind} ${text}`, keyId));
  }

  /**
   * Opens the stored content of a ticket. Returns `undefined` and logs an error if it was not sealed for this
   * ticket: the store was changed, or a sealing key was removed too early.
   */
  open({ kind, text, chain }: PresentedTicket, sealed: SealedContent): FoundTicket | undefined {
    const { correlationId } = chain;
    const sealer = this.#sealer(kind);
    try {
      if (sealed.correlationId !== correlationId)
        throw new Error('The record names a different correlation id');
      const context = sealer.open(contextPurpose, sealed.context ?? '', placeOfChain(chain));
      const detail =
        sealed.detail === undefined ? undefined : sealer.open(detailPurpose, sealed.detail, [kind, text]);
      const end = sealed.endsInMs === undefined ? {} : { chainEndsInSeconds: Number(sealed.endsInMs) / 1000 };
      return { context, detail, correlationId, ...end };
    } catch (error) {
      this.#logger?.error(
        { correlationId, kind, err: error },
        'a ticket is refused: its record in Redis was not sealed for it',
      );
      return undefined;
    }
  }

  /**
   * Opens the notice of a ticket, if it has one. Returns none and logs an error if it was not sealed for this
   * ticket.
   */
  openNotice(
    { kind, text, chain: { correlationId } }: PresentedTicket,
    sealed: string,
  ): { readonly notice?: unknown } {
    if (sealed === '') return {};
    try {
      return { notice: this.#sealer(kind).open(noticePurpose, sealed, [kind, text]) };
    } catch (error) {
      this.#logger?.error(
        { correlationId, kind, err: error },
        'the notice of a ticket is ignored: its record in Redis was not sealed for it',
      );
      return {};
    }
  }

  /** @throws TypeError in a process that has no key for tickets of this kind */
  #sealer(kind: TicketKind): Sealer {
    const sealer = this.#sealers[ticketPurposes[kind]];
    if (sealer === undefined) throw new TypeError(`This process has no sealing key for the kind ${kind}`);
    return sealer;
  }
}

const placeOfChain = ({ correlationId, secret }: Chain) => [correlationId, secret];
