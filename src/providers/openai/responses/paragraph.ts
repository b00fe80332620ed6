/** Separates two messages of one response in its text. Removed again when the second message is sent back. */
export const PARAGRAPH = '\n\n';
