import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import { isSummary } from '../../model/summary-message.js';
import { writeAtomic } from '../../process/files/write-atomic.js';
import type { Report } from '../hook/diagnostic.js';
import type { TranscriptMessages } from '../hook/event-context.js';
import { jsonText } from '../hook/plain-json.js';
import type { ShellHooksSettings } from '../options.js';
import { claudeLines, type MessageOrigin } from './claude-lines.js';

/** Options of `Transcripts`. */
export interface TranscriptsOptions
  extends Pick<ShellHooksSettings, 'workspaceDir' | 'toolNames' | 'sensitive' | 'redact'> {
  readonly folder: string;
  readonly clock: Clock;
  readonly report: Report;
}

/** The written part of one transcript. */
interface Written {
  /** The keys of the messages as the model read them last, in order. */
  readonly model: readonly string[];
  /**
   * The keys of all messages in the file except summaries, in order. An event without the messages of a model compares
   * these keys with the whole conversation.
   */
  readonly people: readonly string[];
  /** The id of the last line of the file. */
  readonly lastId: string | undefined;
}

const NOTHING: Written = { model: [], people: [], lastId: undefined };

/**
 * The largest number of sessions whose state is kept. When another session continues, its whole transcript is written
 * again.
 */
const MOST_SESSIONS = 1_000;

/** Writes the messages of sessions to files in the form of Claude Code, for hooks that read `transcript_path`. */
export class Transcripts {
  private readonly written = new Map<string, Written>();
  private readonly writing = new Map<string, Promise<unknown>>();
  private readonly keys = new WeakMap<Message, string>();
  /** The key is the content of a response. The message of the response has the same object as its content. */
  private readonly origins = new WeakMap<object, MessageOrigin>();
  private hasFailed = false;

  constructor(private readonly options: TranscriptsOptions) {}

  /**
   * Adds the messages that the file of the session lacks. Without messages, the file stays as it is. Returns the path of
   * the file, or an empty string if the file is missing or cannot be written. After a compaction or at a new branch, the
   * file is written again as a whole.
   */
  write(sessionId: string, messages: TranscriptMessages | undefined): Promise<string> {
    const before = this.writing.get(sessionId) ?? Promise.resolve();
    // Parallel tool calls write one after another.
    const written = before.then(() => this.add(sessionId, messages));
    this.writing.set(sessionId, written);
    return written.finally(() => {
      if (this.writing.get(sessionId) === written) this.writing.delete(sessionId);
    });
  }

  /** Records the model and the tokens of a response for the lines of its message. */
  describe({ content, usage }: ModelResponse, model: string): void {
    this.origins.set(content, { model, usage });
  }

  /** Removes the transcript of a run without a session. The id of the run names the file. */
  async remove(sessionId: string): Promise<void> {
    await this.writing.get(sessionId);
    if (this.written.delete(sessionId)) await rm(this.pathOf(sessionId), { force: true }).catch(() => {});
  }

  private async add(sessionId: string, messages: TranscriptMessages | undefined): Promise<string> {
    const path = this.pathOf(sessionId);
    const known = this.written.get(sessionId);
    if (messages === undefined) return known !== undefined || existsSync(path) ? path : '';
    try {
      const view = messages.model ? 'model' : 'people';
      const given = messages.model ?? (await messages.people?.()) ?? [];
      const keys = this.keysOf(given);
      const goesOn = known?.[view].every((key, at) => key === keys[at]) === true;
      const from = goesOn ? known : NOTHING;
      const fresh = keys.slice(from[view].length);
      if (goesOn && fresh.length === 0) return path;
      const added = goesOn ? given.slice(from[view].length) : await this.wholePath(messages, given);
      const { lines, lastId } = this.linesOf(sessionId, added, from);
      await mkdir(this.options.folder, { recursive: true, mode: 0o700 });
      if (goesOn) await appendFile(path, lines.join(''), { mode: 0o600 });
      else await writeAtomic(path, lines.join(''));
      const people = this.keysOf(added.filter((message) => !isSummary(message)));
      this.remember(sessionId, { model: [...from.model, ...fresh], people: [...from.people, ...people], lastId });
      return path;
    } catch (error) {
      this.fail(path, error);
      return '';
    }
  }

  /** Returns the messages as people read them, with the latest summary before the messages that it did not replace. */
  private async wholePath({ people }: TranscriptMessages, model: readonly Message[]): Promise<readonly Message[]> {
    const summary = model.findLastIndex(isSummary);
    if (summary < 0 || people === undefined) return model;
    const all = await people();
    const rest = model.slice(summary);
    return [...all.slice(0, startOfRest(this.keysOf(all), this.keysOf(rest.slice(1)))), ...rest];
  }

  /** Returns the lines of messages that follow the written ones. */
  private linesOf(sessionId: string, added: readonly Message[], from: Written) {
    const source = { ...this.options, sessionId, now: this.options.clock.now() };
    const lines: string[] = [];
    let { lastId } = from;
    let position = from.people.length;
    for (const message of added) {
      const { content } = message;
      const origin = typeof content === 'string' ? undefined : this.origins.get(content);
      const key = `${sessionId} ${position} ${this.keyOf(message)}`;
      const made = claudeLines(message, source, { key, parentId: lastId, origin });
      lines.push(...made.lines.map((line) => this.options.redact?.(line) ?? line));
      lastId = made.lastId;
      if (!isSummary(message)) position += 1;
    }
    return { lines, lastId };
  }

  private remember(sessionId: string, written: Written): void {
    this.written.delete(sessionId);
    this.written.set(sessionId, written);
    const [oldest] = this.written.keys();
    if (this.written.size > MOST_SESSIONS && oldest !== undefined) this.written.delete(oldest);
  }

  private keysOf(messages: readonly Message[]): readonly string[] {
    return messages.map((message) => this.keyOf(message));
  }

  private keyOf(message: Message): string {
    const known = this.keys.get(message);
    if (known !== undefined) return known;
    const { role, content } = message;
    // The same result may get shorter later.
    const same = role === 'tool' ? content.map(({ id }) => id) : content;
    const key = createHash('sha256')
      .update(jsonText([role, same]))
      .digest('base64');
    this.keys.set(message, key);
    return key;
  }

  private pathOf(sessionId: string): string {
    // The id may come from a client.
    const isPlain = /^[A-Za-z0-9][\w-]{0,99}$/.test(sessionId);
    const name = isPlain ? sessionId : createHash('sha256').update(sessionId).digest('hex');
    return join(this.options.folder, `${name}.jsonl`);
  }

  private fail(path: string, error: unknown): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    const message = `The transcript ${path} cannot be written, so hooks get an empty \`transcript_path\`: ${describeError(error)}`;
    this.options.report({ level: 'error', code: 'transcript-failed', message });
  }
}

/**
 * Returns the index of the first message that the summary did not replace. `all` has the keys of all messages of the
 * conversation, and `rest` has the keys of the messages after the summary. Returns the length of `all` if `all` does
 * not contain the keys of `rest`.
 */
function startOfRest(all: readonly string[], rest: readonly string[]): number {
  let [start, longest] = [all.length, 0];
  for (const at of all.keys()) {
    let length = 0;
    while (length < rest.length && at + length < all.length && all[at + length] === rest[length]) length += 1;
    // The last of several equal parts, since the same prompt may be given again.
    if (length > 0 && length >= longest) [start, longest] = [at, length];
  }
  return start;
}
