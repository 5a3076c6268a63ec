import type { RedeemRequest } from './tickets.ts';

/** @throws TypeError for a repeatable redemption whose successor could not be computed a second time */
export function assertRepeatable({ repeatableSeconds, successor }: RedeemRequest): void {
  if (repeatableSeconds === undefined || successor?.isDerived === true) return;
  throw new TypeError('A repeatable redemption needs a derived successor');
}
