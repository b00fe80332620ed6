/** Names of devices on Windows. A file with such a name opens the device, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?: *\.|$)/i;

/**
 * Returns the reason why a name is not safe as a file name, a command argument and a key on every platform. Undefined if
 * the name is safe.
 */
export function portableNameProblem(name: string): string | undefined {
  if (DEVICE.test(name)) return 'the name is that of a device on Windows: choose another name';
  if (/[. ]$/.test(name)) return 'a name must not end with "." or a space: Windows removes both';
  if (name.startsWith('-')) return 'a name must not begin with "-": programs would read an option';
  if (name in {}) return 'the name is reserved: choose another name';
  return undefined;
}
