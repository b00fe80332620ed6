import { createHash } from 'node:crypto';
import { isObject, toJson } from '../../internal/json.js';
import { contentText, type Message } from '../../model/message.js';
import type { Usage } from '../../model/model.js';
import { isSummary } from '../../model/summary-message.js';
import type { ToolNames } from '../hook/event-context.js';
import { redact } from '../hook/plain-json.js';
import { shownArgs, shownToolName } from '../run/matching.js';

/** The values that all lines of a transcript have in common. */
export interface TranscriptSource {
  readonly sessionId: string;
  readonly workspaceDir: string;
  readonly toolNames: ToolNames;
  /** Names of fields that are redacted. */
  readonly sensitive: readonly string[];
  /** Current time in milliseconds since 1970. */
  readonly now: number;
}

/** The model that wrote a message, and its tokens. */
export interface MessageOrigin {
  readonly model: string;
  readonly usage: Usage;
}

/** The position of a message in the transcript, and its origin. */
interface MessagePlace {
  /** A string that is different for each message of the session. */
  readonly key: string;
  /** Id of the line before the message. */
  readonly parentId: string | undefined;
  /** Undefined if the message was not written by a model in this process. */
  readonly origin: MessageOrigin | undefined;
}

/** The lines of one message, and the id of the last one. */
export interface MessageLines {
  readonly lines: readonly string[];
  readonly lastId: string | undefined;
}

const CLAUDE = { dialect: 'claude' } as const;

/**
 * Returns a message as lines of a session file of Claude Code. An assistant message has one line for each content block,
 * and any other message has one line. A summary has a line before it.
 */
export function claudeLines(message: Message, source: TranscriptSource, place: MessagePlace): MessageLines {
  let lastId = place.parentId;
  const lines = entriesOf(message, source, place).map((entry, at) => {
    const uuid = uuidOf(`${place.key} ${at}`);
    const line = {
      parentUuid: lastId ?? null,
      isSidechain: false,
      userType: 'external',
      cwd: source.workspaceDir,
      sessionId: source.sessionId,
      uuid,
      timestamp: new Date(source.now).toISOString(),
      ...(redact(entry, source.sensitive) as object),
    };
    lastId = uuid;
    return `${toJson(line)}\n`;
  });
  return { lines, lastId };
}

function entriesOf(message: Message, source: TranscriptSource, place: MessagePlace): readonly object[] {
  if (message.role === 'system') return [{ type: 'system', subtype: 'informational', content: message.content }];
  if (message.role === 'assistant') {
    const id = `msg_${uuidOf(place.key).replaceAll('-', '')}`;
    const { model, usage } = place.origin ?? {};
    // All lines of one message have its id and all of its tokens.
    return message.content.map((part) => ({
      type: 'assistant',
      message: {
        model,
        id,
        type: 'message',
        role: 'assistant',
        content: [blockOf(part, source)],
        usage: usage && usageOf(usage),
      },
    }));
  }
  if (message.role === 'tool') {
    return message.content.map(({ id, content, isError = false }) => {
      const block = { type: 'tool_result', tool_use_id: id, content: contentText(content), is_error: isError };
      return { type: 'user', message: { role: 'user', content: [block] }, toolUseResult: block.content };
    });
  }
  const { content } = message;
  const blocks = typeof content === 'string' ? content : content.map((part) => blockOf(part, source));
  const entry = { type: 'user', message: { role: 'user', content: blocks } };
  return isSummary(message) ? summaryEntries(entry, place.parentId) : [entry];
}

/** Returns the entries of a summary. `isMeta` marks an entry with the role `user` that a person did not write. */
function summaryEntries(entry: object, parentId: string | undefined): readonly object[] {
  const boundary = {
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    level: 'info',
    parentUuid: null,
    logicalParentUuid: parentId ?? null,
    compactMetadata: { trigger: 'auto' },
  };
  return [boundary, { ...entry, isMeta: true, isCompactSummary: true, isVisibleInTranscriptOnly: true }];
}

/** Cached and written tokens are part of the input tokens of a `Usage`, but not of `input_tokens`. */
function usageOf({ inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: Usage): object {
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
  };
}

/** A content part of any kind of message. */
interface Part {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
}

function blockOf(part: Part, { toolNames }: TranscriptSource): object {
  const { type, text = '', id, name = '', input } = part;
  if (type === 'text') return { type, text };
  if (type === 'reasoning') return { type: 'thinking', thinking: text };
  if (type !== 'tool-call') return { type: 'text', text: `[${type}]` };
  const args = shownArgs(CLAUDE, { tool: name, args: input }, toolNames);
  return { type: 'tool_use', id, name: shownToolName(CLAUDE, name, toolNames), input: isObject(args) ? args : {} };
}

/** Returns an id in the form of a UUID that depends on the text alone. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
