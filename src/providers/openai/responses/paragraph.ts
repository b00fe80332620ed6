/** Separates the texts of two messages of one response. Removed when the second message is sent back. */
export const PARAGRAPH = '\n\n';
