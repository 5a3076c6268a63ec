import type { RedeemRequest } from './tickets.ts';

/** @throws TypeError for a redemption that may be repeated and could not give its successor a second time. */
export function assertRepeatable({ repeatableSeconds, successor }: RedeemRequest): void {
  if (repeatableSeconds === undefined || successor?.isDerived === true) return;
  throw new TypeError('A redemption that may be repeated needs a derived successor');
}
