import { ExpiringMap } from './expiring-map.ts';
import type { ChainUse, ChainUseOutcome, RedeemRequest, SingleUse, TicketKind } from './tickets.ts';

/** The used proofs, and the number of redemptions and of uses of each chain, in one process. */
export class ChainBounds {
  readonly #clock: { now(): number };
  readonly #proofs: ExpiringMap<true>;
  readonly #redemptions: ExpiringMap<number>;
  readonly #uses: ExpiringMap<{ readonly endsAt: number; count: number }>;

  constructor(clock: { now(): number }) {
    this.#clock = clock;
    this.#proofs = new ExpiringMap(clock);
    this.#redemptions = new ExpiringMap(clock);
    this.#uses = new ExpiringMap(clock);
  }

  isUsed(correlationId: string, proof: SingleUse | undefined): boolean {
    return proof !== undefined && this.#proofs.has(`${correlationId} ${proof.name}`);
  }

  useProof(correlationId: string, proof: SingleUse | undefined): void {
    if (proof !== undefined) this.#proofs.set(`${correlationId} ${proof.name}`, true, proof.forSeconds);
  }

  isExhausted(kind: TicketKind, correlationId: string, { limit }: RedeemRequest): boolean {
    return limit !== undefined && this.#redemptionsOf(kind, correlationId) >= limit.redemptions;
  }

  /**
   * Uses up the proof of a redemption. If the request has a limit, counts the redemption until the chain
   * ends.
   */
  countRedemption(
    kind: TicketKind,
    { correlationId, endsInSeconds }: { readonly correlationId: string; readonly endsInSeconds: number },
    { limit, proof }: RedeemRequest,
  ): void {
    this.useProof(correlationId, proof);
    if (limit === undefined) return;
    const count = this.#redemptionsOf(kind, correlationId) + 1;
    this.#redemptions.set(`${kind}:${correlationId}`, count, endsInSeconds);
  }

  /**
   * Counts a use of a chain and uses up its proof, unless the proof was used before or the limit is reached.
   */
  use(correlationId: string, { proof, limit }: ChainUse): ChainUseOutcome {
    if (this.isUsed(correlationId, proof)) return { outcome: 'used-proof' };
    const now = this.#clock.now();
    const uses = this.#uses.get(correlationId) ?? { endsAt: now + limit.seconds * 1000, count: 0 };
    if (uses.count >= limit.uses) return { outcome: 'limited', waitSeconds: (uses.endsAt - now) / 1000 };
    uses.count += 1;
    if (uses.count === 1) this.#uses.set(correlationId, uses, limit.seconds);
    this.useProof(correlationId, proof);
    return { outcome: 'accepted' };
  }

  #redemptionsOf(kind: TicketKind, correlationId: string): number {
    return this.#redemptions.get(`${kind}:${correlationId}`) ?? 0;
  }
}
