const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A literal CR reaches a reader as LF (XML 1.0 section 2.11; HTML "preprocessing the input stream").
  '\r': '&#13;',
};

/**
 * Escapes text for element content and quoted attribute values of HTML, and for element content of XML, so that
 * the reader gets it back character for character. Tab and LF need nothing there; characters that XML 1.0 cannot
 * carry at all are refused at the payload and not looked for here.
 */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"'\r]/g, (character) => replacements[character] ?? character);
}
