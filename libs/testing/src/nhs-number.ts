import { randomInt } from 'node:crypto';

/**
 * Returns the first ten-digit number from these nine digits on, modulo 10^9, whose last digit is its check
 * digit (NHS Data Dictionary, NHS NUMBER).
 */
export function withCheckDigit(nine: number): string {
  const digits = String(nine % 1e9).padStart(9, '0');
  const sum = Array.from(digits).reduce((total, digit, at) => total + Number(digit) * (10 - at), 0);
  const check = (11 - (sum % 11)) % 11;
  return check < 10 ? `${digits}${check}` : withCheckDigit(nine + 1);
}

/** Returns a random valid NHS number that begins with 9, which no person has. */
export const aNhsNumber = (): string => withCheckDigit(randomInt(9e8, 999e6));
