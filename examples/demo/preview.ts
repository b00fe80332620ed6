import type { ToolResult } from 'keelson';
import { plain } from './terminal.js';

const MAX_CHARACTERS = 72;

/** Returns the beginning of a tool result on one line: the members of an object, or the first line of a string. */
export function previewOf({ content }: ToolResult): string {
  const text = typeof content === 'string' ? content : content.map(textOfPart).join('\n');
  const members = membersOf(text);
  if (members !== undefined)
    return shortened(members.map(([name, value]) => `${name}: ${shownValue(value)}`).join(' · '));
  const lines = plain(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return shortened(lines[0] ?? '') + (lines.length > 1 ? ` (${lines.length} lines)` : '');
}

function textOfPart(part: Exclude<ToolResult['content'], string>[number]): string {
  return part.type === 'text' ? part.text : `[${part.type}]`;
}

/** Returns the members of a JSON object; undefined if the string is not one. */
function membersOf(text: string): [string, unknown][] | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return Object.entries(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(shownValue).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Shortens a string to the limit, between two words if possible. */
function shortened(text: string): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  if (line.length <= MAX_CHARACTERS) return line;
  const cut = line.slice(0, MAX_CHARACTERS);
  return `${cut.replace(/[\s,·]+\S{0,20}$/, '')} …`;
}
