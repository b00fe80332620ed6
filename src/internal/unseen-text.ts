/**
 * Control characters but for the line feed and the tab; what turns the text around or shows nothing, which only a model
 * would read; what varies a character that it does not stand behind. The joiners stay, since whole scripts and emoji need
 * them. Half an emoji, as a cut leaves, would make a provider refuse the request.
 */
const UNSEEN =
  /(?![\n\t])\p{Cc}|(?![\u200c\u200d])\p{Cf}|\p{Cs}|(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|(?<=\p{Default_Ignorable_Code_Point})\p{Variation_Selector}|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu;

/** A text with nothing in it that a person would not see. */
export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, '');
}
