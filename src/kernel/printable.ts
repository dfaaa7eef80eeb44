/** Controls and marks that turn the direction of writing; a tab and a line break steer nothing. */
const STEERING = /(?![\t\n])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Text from a model, a tool or a person, made harmless for a terminal: it may not move the cursor,
 * change the title or the clipboard, or hide what stands on the screen.
 */
export function printable(text: string): string {
  return text.replaceAll(STEERING, '');
}

/** JSON text as harmless as that, and still the same document: the characters are escaped. */
export function printableJson(json: string): string {
  return json.replaceAll(
    STEERING,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
