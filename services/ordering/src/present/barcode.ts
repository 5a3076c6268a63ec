/** The width of the narrowest bar: 0.01 inch, three dots of a printer with 300 dots an inch and six of one with 600. */
const moduleMm = 0.254;
/** ISO/IEC 15417: what stays white on either side, in modules. */
const quietZone = 10;

/**
 * A Code 128 barcode (ISO/IEC 15417) as an SVG that is as wide as its text needs, quiet zones included. It is an
 * image with a name of its own; the text belongs beneath it in print too.
 * @param text ASCII
 * @throws Error when the text has a character that the symbology cannot carry.
 */
export async function createBarcode(text: string, { heightMm }: { heightMm: number }): Promise<string> {
  // Loaded when the first one is printed: it would be a twentieth of the service's start.
  const { toSVG } = await import('bwip-js/node');
  const svg = toSVG({ bcid: 'code128', text, scale: 1, height: heightMm, paddingwidth: quietZone });
  const [opening, modules] = /^<svg viewBox="0 0 (\d+) \d+"/.exec(svg) ?? [];
  if (opening === undefined) throw new TypeError('The barcode has no width');
  const widthMm = (Number(modules) * moduleMm).toFixed(3);
  // The bars may be any height; only their widths mean something.
  const size = `width="${widthMm}mm" height="${heightMm}mm" preserveAspectRatio="none"`;
  return `${opening} ${size} role="img" aria-label="Barcode ${text}"${svg.slice(opening.length)}`;
}
