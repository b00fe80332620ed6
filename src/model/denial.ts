/** Returns the tool result of a call that a person or a lifecycle denied. */
export function deniedCall(reason?: string): string {
  return `The call was denied${reason === undefined ? '.' : `: ${reason}`}`;
}

/**
 * Returns the text for a call that did not run. If an earlier attempt had started, adds that it may have had an effect.
 */
export function withAttempts(text: string, attempt = 1): string {
  if (attempt === 1) return text;
  return `${text}${text.endsWith('.') ? '' : '.'} An earlier attempt may have happened.`;
}

/** Returns the reason from a text that `deniedCall` made. */
export function reasonOfDeniedCall(text: string): string | undefined {
  return /^The call was denied: (.+)$/s.exec(text)?.[1];
}

/** Returns the message to the model after a person denied its answer. */
export function deniedAnswer(reason?: string): string {
  return `The answer was denied${reason === undefined ? '' : `: ${reason}`}. Answer again.`;
}

/** Returns true for a text that `deniedAnswer` made. */
export function isDeniedAnswer(text: string): boolean {
  return /^The answer was denied(: .*)?\. Answer again\.$/s.test(text);
}
