const CHAT_ONLY = /-(?:audio|search)-preview|^gpt-audio|^gpt-3\.5-turbo-16k/;
const REASONS = /^(?:o\d|gpt-(?:[5-9]|\d{2})|gpt-oss|codex|computer-use)/;
const DOES_NOT_REASON = /^(?:gpt-[34]|chatgpt|gpt-5-chat)/;

/** True for a model that OpenAI serves only with the chat completions API. */
export function isChatOnly(model: string): boolean {
  return CHAT_ONLY.test(baseOf(model));
}

/**
 * True for a reasoning model, and false for any other known model. Undefined for an unknown name, such as the name of
 * an Azure deployment.
 */
export function reasons(model: string): boolean | undefined {
  const name = baseOf(model);
  if (DOES_NOT_REASON.test(name)) return false;
  return REASONS.test(name) ? true : undefined;
}

/** Returns the base model of a fine-tuned model, such as `gpt-4.1` for `ft:gpt-4.1:acme::id`. */
function baseOf(model: string): string {
  return (model.startsWith('ft:') ? model.slice(3) : model).toLowerCase();
}
