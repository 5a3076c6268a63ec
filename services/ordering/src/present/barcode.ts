/** The width of the narrowest bar in millimetres: 0.01 inch, which is 3 dots at 300 dpi and 6 at 600 dpi. */
const moduleMm = 0.254;
/** The width of the white margin on each side, in modules (ISO/IEC 15417). */
const quietZone = 10;

/**
 * Returns a Code 128 barcode (ISO/IEC 15417) as an SVG, with quiet zones. The width depends on the text. The
 * image has an accessible name. Print the text below the barcode, too.
 * @param text ASCII
 * @throws Error if the text contains a character that the symbology does not support
 */
export async function createBarcode(text: string, { heightMm }: { heightMm: number }): Promise<string> {
  // Loads the module for the first barcode, because the module would take a twentieth of the startup time.
  const { toSVG } = await import('@bwip-js/node');
  const svg = toSVG({ bcid: 'code128', text, scale: 1, height: heightMm, paddingwidth: quietZone });
  const [opening, modules] = /^<svg viewBox="0 0 (\d+) \d+"/.exec(svg) ?? [];
  if (opening === undefined) throw new TypeError('The barcode has no width');
  const widthMm = (Number(modules) * moduleMm).toFixed(3);
  // The bars may have any height, because scanners read only their widths.
  const size = `width="${widthMm}mm" height="${heightMm}mm" preserveAspectRatio="none"`;
  return `${opening} ${size} role="img" aria-label="Barcode ${text}"${svg.slice(opening.length)}`;
}
