import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';

/** The papers of a request that can be printed. */
export type PrintedPaper = 'form' | 'labels';

/** One print of a paper, with the previous prints. */
export type Printing = {
  /** ISO 8601 instant */
  readonly at: string;
  /**
   * The number of earlier prints of this paper of the request, and the time and user of the last print.
   * Absent for the first print.
   */
  readonly before?: {
    readonly times: number;
    readonly at: string;
    readonly author: LaunchRequest['author'];
  };
};

/** A kind of labels for a printer: sheets or a roll. `public/labels.css` contains the dimensions. */
export type LabelStock = {
  readonly id: string;
  readonly name: string;
  /** The rows and columns of a sheet, on which printing may start at any label. Absent for a roll. */
  readonly sheet?: { readonly rows: number; readonly columns: number };
};

/** The label stocks that a user can choose. The first stock is the default. */
export const labelStocks = [
  { id: 'a4-24', name: 'A4 sheet of 24, 70 × 36 mm', sheet: { rows: 8, columns: 3 } },
  { id: 'roll-51x25', name: 'Roll, 51 × 25 mm (Zebra)' },
  { id: 'roll-57x32', name: 'Roll, 57 × 32 mm (DYMO)' },
  { id: 'roll-89x36', name: 'Roll, 89 × 36 mm (DYMO)' },
] as const satisfies readonly LabelStock[];

/** Returns the stock of the first id that is known. If no id is known, returns the default stock. */
export const labelStockOf = (ids: readonly (string | null)[]): LabelStock =>
  ids.map((id) => labelStocks.find((stock) => stock.id === id)).find((stock) => stock !== undefined) ??
  labelStocks[0];

/** Reads the position of the first label on a sheet, from 1. Returns 1 for a roll or an invalid position. */
export function startOf(typed: string | null, { sheet }: LabelStock): number {
  const places = sheet === undefined ? 1 : sheet.rows * sheet.columns;
  const start = /^\d{1,3}$/.test(typed ?? '') ? Number(typed) : 1;
  return start >= 1 && start <= places ? start : 1;
}
