/**
 * Returns a test for a pattern in which only `*` is special and matches any characters. Takes linear time, whereas a
 * regular expression with many stars could block the thread for hours.
 */
export function starTest(pattern: string): (text: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(start) || !text.endsWith(end) || text.length < start.length + end.length) return false;
    let position = start.length;
    for (const part of rest) {
      const found = text.indexOf(part, position);
      if (found < 0) return false;
      position = found + part.length;
    }
    return position <= text.length - end.length;
  };
}
