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

/** At most so many characters of a text; half of a pair at its end is none (a provider may refuse it). */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).toWellFormed();
}
