/**
 * Returns the id of the assistant message that answers the user message number `count` (from 1) of a chat. The id
 * contains a checksum of the chat and of the user message, so that an id of another conversation is recognised. The
 * checksum is not a signature. It need not be one, because the content of earlier messages is never read.
 */
export function assistantMessageId(count: number, chat: string, userText: string): string {
  return `a${count}-${checksum(`${count}\n${chat}\n${userText}`)}`;
}

/** Returns the number of the user message that an assistant message answers; undefined if the id is of other origin. */
export function answeredMessage(id: string): number | undefined {
  const digits = /^a([1-9]\d{0,8})-[0-9a-f]{8}$/.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** FNV-1a with 32 bits, over UTF-16 code units. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
