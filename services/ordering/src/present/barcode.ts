/**
 * The width of the narrowest bar in millimetres: 0.01 inch, three dots of a printer with 300 dots an inch and
 * six with 600.
 */
const moduleMm = 0.254;
/** ISO/IEC 15417: the white margin on either side, in modules. */
const quietZone = 10;

/**
 * Returns a Code 128 barcode (ISO/IEC 15417) as an SVG, as wide as its text needs, including quiet zones. It
 * is an image with its own name; print the text below it too.
 * @param text ASCII
 * @throws Error when the text has a character that the symbology does not support
 */
export async function createBarcode(text: string, { heightMm }: { heightMm: number }): Promise<string> {
  // Loaded when the first barcode is printed: loading it takes a twentieth of the service's start.
  const { toSVG } = await import('@bwip-js/node');
  const svg = toSVG({ bcid: 'code128', text, scale: 1, height: heightMm, paddingwidth: quietZone });
  const [opening, modules] = /^<svg viewBox="0 0 (\d+) \d+"/.exec(svg) ?? [];
  if (opening === undefined) throw new TypeError('The barcode has no width');
  const widthMm = (Number(modules) * moduleMm).toFixed(3);
  // Only the widths of the bars matter; they may have any height.
  const size = `width="${widthMm}mm" height="${heightMm}mm" preserveAspectRatio="none"`;
  return `${opening} ${size} role="img" aria-label="Barcode ${text}"${svg.slice(opening.length)}`;
}
