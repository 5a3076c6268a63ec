/** Label stock: the sheets or the roll in a practice's printer. `public/labels.css` has its measures. */
export type LabelStock = {
  readonly id: string;
  readonly name: string;
  /** Of a sheet: where printing may start, so that a used sheet can be used up. Absent for a roll. */
  readonly sheet?: { readonly rows: number; readonly columns: number };
};

/** The first is used until a user chooses another. */
export const labelStocks = [
  { id: 'a4-24', name: 'A4 sheet of 24, 70 × 36 mm', sheet: { rows: 8, columns: 3 } },
  { id: 'roll-51x25', name: 'Roll, 51 × 25 mm (Zebra)' },
  { id: 'roll-57x32', name: 'Roll, 57 × 32 mm (DYMO)' },
  { id: 'roll-89x36', name: 'Roll, 89 × 36 mm (DYMO)' },
] as const satisfies readonly LabelStock[];

/** Finds a stock by its id; the first if there is none. */
export const labelStockOf = (ids: readonly (string | null)[]): LabelStock =>
  ids.map((id) => labelStocks.find((stock) => stock.id === id)).find((stock) => stock !== undefined) ??
  labelStocks[0];

/** Reads the place of the first label on a sheet, from 1 on; 1 for a roll, and for an unknown place. */
export function startOf(typed: string | null, { sheet }: LabelStock): number {
  const places = sheet === undefined ? 1 : sheet.rows * sheet.columns;
  const start = /^\d{1,3}$/.test(typed ?? '') ? Number(typed) : 1;
  return start >= 1 && start <= places ? start : 1;
}
