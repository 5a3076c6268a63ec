const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A reader converts a literal CR to LF (XML 1.0 section 2.11; HTML "preprocessing the input stream").
  '\r': '&#13;',
};

const special = /[&<>"'\r]/;
const everySpecial = /[&<>"'\r]/g;

/**
 * Escapes text for element content and quoted attribute values of HTML, and for element content of XML, so
 * that the reader gets it back character for character. Tab and LF need no escape there. Characters that XML
 * 1.0 does not allow are refused in the payload and not checked here.
 */
export function escapeMarkup(text: string): string {
  // Most texts need no escape, and a test costs less than a replacement of nothing.
  if (!special.test(text)) return text;
  return text.replaceAll(everySpecial, (character) => replacements[character] ?? character);
}
