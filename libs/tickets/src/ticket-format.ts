import { drawBytes, type Sealer } from '@clinical-launch/crypto/sealing';
import type { Shard } from '@clinical-launch/redis/redis-scripts';
import {
  type FoundTicket,
  type IssueRequest,
  type RedeemRequest,
  type Successor,
  type TicketKind,
  type TicketPurpose,
  ticketPurposes,
} from './tickets.ts';

/** The data about a chain that the text of each of its tickets contains. */
export type Chain = {
  readonly shard: Shard;
  readonly correlationId: string;
  /**
   * 128 random bits in Base64URL. They are never stored, so only the holders of a ticket of the chain know
   * them.
   */
  readonly secret: string;
};

const guidForm = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;

/**
 * Creates a chain with its own secret. @throws TypeError for a correlation id that is not a GUID in lower
 * case
 */
export function beginChain(correlationId: string, shard: Shard): Chain {
  if (!guidForm.test(correlationId))
    throw new TypeError('The correlation id of a chain of tickets must be a GUID in lower case');
  return { shard, correlationId, secret: drawBytes(16).toString('base64url') };
}

/**
 * Returns a ticket of a chain. It consists of the shard (2 characters), the correlation id (22), the chain
 * secret (22) and 256 bits of its own (43). These bits are random unless they were derived.
 */
export function nameTicket({ shard, correlationId, secret }: Chain, own: Buffer = drawBytes(32)): string {
  const guid = Buffer.from(correlationId.replaceAll('-', ''), 'hex').toString('base64url');
  return shard + guid + secret + own.toString('base64url');
}

/**
 * Returns the correlation id of the launch that a ticket names. The id is not proven until the ticket is
 * found or redeemed. Returns `undefined` for a text that cannot be a ticket.
 */
export const launchOf = (ticket: string): string | undefined => readChain(ticket)?.correlationId;

/** Reads the chain that a ticket names; `undefined` for a text that cannot be a ticket. */
export function readChain(ticket: string): Chain | undefined {
  if (!/^(?:0[0-9]|1[0-5])[\w-]{87}$/.test(ticket)) return undefined;
  const guid = Buffer.from(ticket.slice(2, 24), 'base64url').toString('hex');
  return {
    shard: ticket.slice(0, 2),
    correlationId: `${guid.slice(0, 8)}-${guid.slice(8, 12)}-${guid.slice(12, 16)}-${guid.slice(16, 20)}-${guid.slice(20)}`,
    secret: ticket.slice(24, 46),
  };
}

/** The logger method that this module uses. A pino logger has it. */
export type SealLogger = { error(fields: object, message: string): void };

/** The sealers for the kinds of tickets that a process issues, finds or redeems. */
export type TicketSealers = Readonly<Partial<Record<TicketPurpose, Sealer>>>;

export type PresentedTicket = { readonly kind: TicketKind; readonly text: string; readonly chain: Chain };

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
 * Seals the content of tickets. A context is bound to its chain (correlation id and chain secret), and a
 * detail to its ticket (kind and text). Only a holder of a ticket knows the chain secret. So an attacker who
 * can write to the store but holds no ticket of a chain can neither open nor move its content.
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
   * Returns the successor's ticket: random, or derived from its predecessor with the current or the given
   * key.
   */
  nameSuccessor({ kind, isDerived }: Successor, { text, chain }: PresentedTicket, keyId?: string): string {
    if (!isDerived) return nameTicket(chain);
    return nameTicket(chain, this.#sealer(kind).derive(successorPurpose, `${kind} ${text}`, keyId));
  }

  /**
   * Returns the ticket that was derived before, even if the keys have been rotated since.
   * @param keyIds the ids, separated by spaces, of the keys that derived it and the successors between
   */
  nameAgain(successor: Successor, presented: PresentedTicket, keyIds: string): string {
    return keyIds
      .split(' ')
      .reduce((text, id) => this.nameSuccessor(successor, { ...presented, text }, id), presented.text);
  }

  /**
   * Opens the stored content of a ticket. If the content was not sealed for this ticket, returns `undefined`
   * and logs an error: the store was changed, or a sealing key was removed too early.
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
      return { context, detail, correlationId, ...chainEnd(sealed.endsInMs) };
    } catch (error) {
      this.#logger?.error(
        { correlationId, kind, err: error },
        'a ticket is refused: its record in Redis was not sealed for it',
      );
      return undefined;
    }
  }

  /**
   * Opens the notice of a ticket, if the ticket has a notice. If the notice was not sealed for this ticket,
   * returns nothing and logs an error.
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

/** Returns the seconds until a chain ends, from the milliseconds that a script returned; none without an end. */
export const chainEnd = (endsInMs: string | undefined): { readonly chainEndsInSeconds?: number } =>
  endsInMs === undefined ? {} : { chainEndsInSeconds: Number(endsInMs) / 1000 };

const placeOfChain = ({ correlationId, secret }: Chain) => [correlationId, secret];

/**
 * Checks that a chain with a record has an end and begins without a claim, and that a chain with labels has a
 * record.
 * @throws TypeError
 */
export function assertRecordable({ chainRecord, chainLabels, chainSeconds, claim }: IssueRequest): void {
  if (chainRecord === undefined) {
    if (chainLabels !== undefined) throw new TypeError('A chain with labels must have a record');
    return;
  }
  if (chainSeconds === undefined || claim !== undefined)
    throw new TypeError('A chain with a record must have an end and must not begin with a claim');
}

/**
 * Checks that the successor of a repeatable redemption is derived, so that it can be computed again. @throws
 * TypeError
 */
export function assertRepeatable({ repeatableSeconds, successor }: RedeemRequest): void {
  if (repeatableSeconds === undefined || successor?.isDerived === true) return;
  throw new TypeError('A repeatable redemption needs a derived successor');
}
