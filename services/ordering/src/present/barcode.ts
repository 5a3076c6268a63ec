/** The width of the narrowest bar in millimetres: 0.01 inch, or three dots at 300 dpi and six at 600 dpi. */
const moduleMm = 0.254;
/** ISO/IEC 15417: the white margin on either side, in modules. */
const quietZone = 10;

/**
 * Returns a Code 128 barcode (ISO/IEC 15417) as an SVG, as wide as its text needs, including quiet zones. The
 * image has its own accessible name; print the text below it, too.
 * @param text ASCII
 * @throws Error if the text contains a character that the symbology does not support
 */
export async function createBarcode(text: string, { heightMm }: { heightMm: number }): Promise<string> {
  // Loads with the first barcode, because loading takes a twentieth of the service's startup time.
  const { toSVG } = await import('@bwip-js/node');
  const svg = toSVG({ bcid: 'code128', text, scale: 1, height: heightMm, paddingwidth: quietZone });
  const [opening, modules] = /^<svg viewBox="0 0 (\d+) \d+"/.exec(svg) ?? [];
  if (opening === undefined) throw new TypeError('The barcode has no width');
  const widthMm = (Number(modules) * moduleMm).toFixed(3);
  // Only the widths of the bars matter; they may have any height.
  const size = `width="${widthMm}mm" height="${heightMm}mm" preserveAspectRatio="none"`;
  return `${opening} ${size} role="img" aria-label="Barcode ${text}"${svg.slice(opening.length)}`;
}
