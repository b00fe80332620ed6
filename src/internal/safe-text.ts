/** Options for making a string safe to show. */
export interface SafeTextOptions {
  /** Maximum number of characters. A longer string is cut, and its original length is appended. Default: no limit. */
  readonly maxLength?: number | undefined;
  /**
   * Shows hidden characters and line breaks as codes, such as `\u{202e}`. Default: hidden characters are removed.
   */
  readonly escape?: boolean | undefined;
}

/**
 * Returns the string as a person should see it. Removes terminal sequences, control characters except line feed and
 * tab, and invisible or reordering characters.
 *
 * A carriage return becomes a line feed. An unpaired surrogate is removed as well, because model providers reject it.
 */
export function safeText(text: string, { maxLength = text.length, ...options }: SafeTextOptions = {}): string {
  const kept = text.slice(0, maxLength);
  const safe = options.escape
    ? kept.replace(/ {4,}/g, ({ length }) => ` (${length} blanks) `).replace(CONFUSING, numberOf)
    : kept.replace(TERMINAL_SEQUENCE, '').replace(/\r\n?/g, '\n').replace(UNSEEN, '');
  return text.length > maxLength ? `${safe}… (${text.length} characters)` : safe;
}

function numberOf(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

const TERMINAL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/**
 * Matches the invisible characters to remove. Keeps joiners, which some scripts and emoji need, and a variation
 * selector after a visible character.
 */
const UNSEEN =
  /(?![\n\t])\p{Cc}|(?![\u200c\u200d])\p{Cf}|\p{Cs}|(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|(?<=\p{Default_Ignorable_Code_Point})\p{Variation_Selector}|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu;

/** Matches every invisible character and every white space except the plain space. */
const CONFUSING = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
