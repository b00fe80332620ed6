import { setTimeout as sleep } from 'node:timers/promises';
import { type AssistantPart, type Message, type Model, type ModelRequest, type ToolResultPart, textOf } from 'keelson';
import { calls, type ScriptEntry, says, scriptedModel } from 'keelson/testing';

/** A delay between words that makes the streaming visible. */
const WORD_MS = 15;

/** Creates a model that follows a script. Its answers quote the tool results, and are streamed word by word. */
export function scriptedExplorer(): Model {
  const script = scriptedModel(nextStep, { record: false });
  return {
    id: script.id,
    async generate(request) {
      const response = await script.generate({ ...request, signal: request.signal, onPart: undefined });
      await speak(response.content, request);
      const [inputTokens, outputTokens] = [tokensIn(request.messages), tokensIn(response.content)];
      return { ...response, usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } };
    },
  };
}

async function speak(content: readonly AssistantPart[], { onPart, signal }: ModelRequest): Promise<void> {
  if (onPart === undefined) return;
  for (const word of textOf({ role: 'assistant', content }).match(/\S+\s*/g) ?? []) {
    onPart({ type: 'text-delta', text: word });
    await sleep(WORD_MS, undefined, { signal });
  }
}

/** Estimates four characters per token. */
function tokensIn(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}

function nextStep({ messages }: ModelRequest): ScriptEntry {
  const asked = messages.flatMap((message, index) => (message.role === 'user' ? [index] : []));
  const since = asked.at(-1) ?? 0;
  const results = messages.slice(since).flatMap((message) => (message.role === 'tool' ? message.content : []));
  return asked.length === 1 ? aboutProject(results) : aboutLicence(results, messages.slice(0, since));
}

function aboutProject(results: readonly ToolResultPart[]): ScriptEntry {
  const [listed, ...read] = results;
  if (listed === undefined) return calls('list_files', { path: '.' });
  const { entries } = dataOf<{ entries: readonly string[] }>(listed) ?? {};
  if (entries === undefined) return says(`I could not look. ${textIn(listed)}`);
  const readme = entries.find((name) => /^readme/i.test(name));
  const licence = entries.find((name) => /^(licen[cs]e|copying)/i.test(name) && !name.endsWith('/'));
  const wanted = [readme, licence].filter((name) => name !== undefined);
  if (read.length === 0 && wanted.length > 0) {
    const [first, ...rest] = wanted.map((path) => ({ name: 'read_file', input: { path } }));
    return first === undefined ? says('') : calls(first, ...rest);
  }
  const texts = new Map(wanted.map((name, index) => [name, textIn(read[index])]));
  const about = readme === undefined ? 'The folder has no readme' : summaryOf(texts.get(readme) ?? '');
  const name = licence === undefined ? undefined : firstLine(texts.get(licence) ?? '');
  const terms = name === undefined ? 'I found no licence.' : `The licence in ${licence} is: ${name}.`;
  return says(`${about} (${entries.length} entries at the top). ${terms}`);
}

/** Searches for the licence that the first answer names. */
function aboutLicence(results: readonly ToolResultPart[], before: readonly Message[]): ScriptEntry {
  const answer = textOf(before.findLast((message) => message.role === 'assistant') ?? { role: 'system', content: '' });
  const [, licence = 'LICENSE', word = 'license'] = /licence in (\S+) is: (\S+?)[\s.]/.exec(answer) ?? [];
  const [found, above, info] = results;
  if (found === undefined) {
    return calls(
      { name: 'search_files', input: { text: word } },
      { name: 'list_files', input: { path: '..' } },
      { name: 'mcp__files__get_file_info', input: { path: licence } },
    );
  }
  const { lines, files = 0, names } = dataOf<{ lines: number; files: number; names: readonly string[] }>(found) ?? {};
  if (names === undefined) return says(`I could not search. ${textIn(found)}`);
  const where = names.slice(0, 5).join(', ') + (files > 5 ? ' and others' : '');
  const outside = above?.isError === true || /denied/i.test(textIn(above)) ? 'I may not look' : 'I could look';
  const size = /^size: (\d+)$/m.exec(textIn(info))?.[1];
  const about = size === undefined ? `I do not know how large ${licence} is` : `${licence} has ${size} bytes`;
  return says(`"${word}" is in ${lines} lines of ${files} files: ${where}. ${about}. In the folder above, ${outside}.`);
}

/** Returns the first heading of a readme, and the first sentence below it. */
function summaryOf(readme: string): string {
  const title = /^#\s+(.+)$/m.exec(readme)?.[1] ?? 'A project without a title';
  const body = readme.slice(readme.search(/^#\s/m)).split('\n').slice(1);
  const text = body.filter((line) => /^\s*[\p{L}\p{N}`*_]/u.test(line)).join(' ');
  const sentence = /^.+?[.:!?](?=\s|$)/.exec(text)?.[0] ?? text.slice(0, 120);
  return `${title}: ${sentence.replace(/[.:]$/, '')}`;
}

function firstLine(text: string): string | undefined {
  return text
    .split('\n')
    .map((line) => line.replace(/^#+/, '').trim())
    .find((line) => line !== '');
}

/** Parses the JSON of a tool result; undefined if the result is an error. */
function dataOf<T>(result: ToolResultPart): T | undefined {
  const text = textIn(result);
  return text.startsWith('{') ? (JSON.parse(text) as T) : undefined;
}

function textIn(result: ToolResultPart | undefined): string {
  return result === undefined ? '' : textOf({ role: 'tool', content: [result] });
}
