const hasOption = /`[^`]+`/;
const unknown = /^unknown [\w ]+ `[^`]+`.*; (did you mean|known are|use) /s;

/** True if a message about an option names the option, what was expected, and the value that it got. */
export function isHelpfulOptionMessage(message: string): boolean {
  if (unknown.test(message)) return true;
  return hasOption.test(message) && /\b(must|expected)\b/.test(message) && /\bgot\b/.test(message);
}
