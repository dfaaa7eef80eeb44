/** What stands where a secret was. */
export const REDACTED = '[redacted]';

/**
 * A shorter secret is left alone: masking it would shred ordinary text and, by the holes, tell where
 * it stands. Whoever configures one that short is told so by the length rule for keys, not here.
 */
export const SECRET_CHARS_MIN = 8;
/** A line of a secret of several lines (a key file) counts alone from this length on. */
const LINE_CHARS_MIN = 16;

/** Masks text that comes in pieces; a secret that lies across pieces is found too. */
export interface RedactingStream {
  /** The part of everything given so far that can no longer begin a secret, masked. */
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/**
 * Gives the function that masks known secrets in text that leaves (X-6, O-7): as they are, escaped
 * for JSON, URL-encoded, and in base64 at any alignment (`Basic` credentials hold them so).
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = formsOf(secrets);
  return (text) => mask(text, forms);
}

/** As `redactor`, for text that comes in pieces. */
export function redactingStream(secrets: readonly string[]): RedactingStream {
  const forms = formsOf(secrets);
  const held = Math.max(0, (forms[0]?.length ?? 0) - 1);
  let rest = '';
  return {
    push(piece) {
      const masked = mask(rest + piece, forms);
      const cut = boundary(masked, Math.max(0, masked.length - held));
      rest = masked.slice(cut);
      return masked.slice(0, cut);
    },
    end() {
      const last = rest;
      rest = '';
      return last;
    },
  };
}

/** A pair of surrogates is one character and stays in one piece. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? Math.max(0, at - 1) : at;
}

function mask(text: string, forms: readonly string[]): string {
  let masked = text;
  for (const form of forms) {
    if (masked.includes(form)) masked = masked.replaceAll(form, REDACTED);
  }
  return masked;
}

/** Longest first, so that no form cuts a hole into a longer one. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const values = secrets.flatMap((secret) => valuesOf(secret));
  const forms = new Set(
    values.flatMap((value) => [
      value,
      ...jsonForms(value),
      ...urlForms(value),
      ...base64Forms(value),
    ]),
  );
  return [...forms].toSorted((a, b) => b.length - a.length);
}

function valuesOf(secret: string): string[] {
  const value = secret.toWellFormed().trim();
  const lines = value.includes('\n')
    ? value
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line.length >= LINE_CHARS_MIN && !line.startsWith('-----'))
    : [];
  // A secret that the mask itself contains would be masked again and again.
  return [value, ...lines].filter(
    (text) => text.length >= SECRET_CHARS_MIN && !REDACTED.includes(text),
  );
}

function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const ascii = plain.replaceAll(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [plain, plain.replaceAll('/', '\\/'), ascii, ascii.replaceAll('/', '\\/')];
}

function urlForms(value: string): string[] {
  const plain = encodeURIComponent(value);
  const strict = plain.replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const forms = [plain, strict, plain.replaceAll('%20', '+'), strict.replaceAll('%20', '+')];
  return [
    ...forms,
    ...forms.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
  ];
}

/** The characters that the secret alone decides, with 0, 1 or 2 foreign bytes before it. */
function base64Forms(value: string): string[] {
  const bytes = [...new TextEncoder().encode(value)];
  return [0, 1, 2].flatMap((before) => {
    const padded = [...Array.from({ length: before }, () => 0), ...bytes];
    const text = btoa(String.fromCharCode(...padded));
    const whole = Math.floor((padded.length * 8) / 6);
    const core = text.slice(before === 0 ? 0 : before + 1, whole);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
