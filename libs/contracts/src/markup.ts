const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A reader converts a literal CR to LF (XML 1.0 section 2.11; HTML "preprocessing the input stream").
  '\r': '&#13;',
};

/**
 * Escapes text for element content and quoted attribute values of HTML, and for element content of XML, so
 * that the reader gets it back character for character. Tab and LF need no escape there. Characters that XML
 * 1.0 does not allow are refused in the payload and not checked here.
 */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"'\r]/g, (character) => replacements[character] ?? character);
}
