/** A row of a CSV text. `line` is the line in which the row begins, counted from 1. */
export type CsvRow = { readonly line: number; readonly fields: readonly string[] };

/** Matches one field and its terminator: a comma, the end of the line, or the end of the text. */
const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;

/**
 * Reads CSV (RFC 4180): fields in double quotes may contain commas, line ends and doubled quotes. Skips a
 * byte order mark and empty lines.
 * @throws TypeError that names the line of a stray quote, without values
 */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let fields: string[] = [];
  let [line, begin] = [1, 1];
  field.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (field.lastIndex < text.length || fields.length > 0) {
    const found = field.exec(text);
    if (found === null)
      throw new TypeError(`line ${line} contains a quotation mark that is not allowed there`);
    const [whole, quoted, plain = '', end] = found;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0;
    if (end === ',') continue;
    if (fields.length > 1 || fields[0] !== '') rows.push({ line: begin, fields });
    fields = [];
    begin = line;
  }
  return rows;
}
