/** How a text is made safe to show. */
export interface SafeTextOptions {
  /** Characters to keep. What is cut is said at the end. Default: all. */
  readonly maxLength?: number | undefined;
  /** Put the number of a character in its place, such as `\u{202e}`, and keep it on one line. Default: leave it out. */
  readonly escape?: boolean | undefined;
}

/**
 * The text as a person sees it: without terminal sequences, control characters but for the line feed and the tab, and
 * characters that reorder the text or show nothing. A carriage return becomes a line feed. Half of a surrogate pair, as a
 * cut leaves it, is left out too: providers refuse it.
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** The joiners stay, since whole scripts and emoji need them, and so does a variation selector behind what it varies. */
const UNSEEN =
  /(?![\n\t])\p{Cc}|(?![\u200c\u200d])\p{Cf}|\p{Cs}|(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|(?<=\p{Default_Ignorable_Code_Point})\p{Variation_Selector}|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu;

/** Everything unseen, and every blank that is not a plain one. */
const CONFUSING = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
