/** Separates the texts of two messages of one response. Removed again when the second message is sent back. */
export const PARAGRAPH = '\n\n';
