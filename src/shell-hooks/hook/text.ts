import { safeText } from '../../internal/safe-text.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Message } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';
import type { HookEffects } from './effects.js';

/** Maximum length of one hook message to the model, in characters. */
export const LONGEST = 10_000;

/** Returns a string of a hook with at most 10,000 characters. A string that is cut ends with its original length. */
export function shortText(text: string): string {
  if (text.length <= LONGEST) return text;
  const end = `… (${text.length} characters)`;
  return text.slice(0, LONGEST - end.length) + end;
}

/**
 * Returns a message of a hook to the model. The content is shortened, and cannot end or imitate another message.
 */
export function hookMessage(hook: string, text: string, role: 'system' | 'user' = 'system'): Message {
  const source = escapeMarkup(safeText(hook)).replaceAll('"', '&quot;');
  return { role, content: `<hook-message source="hook:${source}">\n${modelText(text)}\n</hook-message>` };
}

/**
 * Returns a string of a hook, shortened, for use in a message to the model. The string stays as the hook wrote it, except
 * for tags of the frame around messages, marks of chat formats, and names of speakers at the start of a line.
 */
export function modelText(text: string): string {
  return withoutFrames(safeText(shortText(text)))
    .replace(SPEAKER, (line, start: string, name: string) =>
      isData(start, name) ? line : `${line.slice(0, -1).trimEnd()}&#58;`,
    )
    .replace(/\[(?=\/?(?:INST|SYS(?:TEM)?(?:_PROMPT)?)\])/gi, '&#91;');
}

/**
 * Matches the part after the bracket of a tag that begins or ends a message, such as `hook-message`, `system` or
 * `|im_start|>`.
 */
const FRAME = /^\s*\/?\s*(?:hook[\W_]?message|system(?:\W?reminder)?(?=[\s>/]|$))|^\|\s*[a-z_]+\s*\|>/i;
const LONGEST_TAG = 200;
/** Matches the part after the bracket of a `hook-message` tag, which wraps each message of a hook. */
const OWN_FRAME = /^\s*\/?\s*hook[\W_]?message(?=[\s>/]|$)/i;
/**
 * Invisible characters. They are removed only between two visible ASCII characters, because emoji and some scripts need
 * them.
 */
const HIDDEN = '[\\u200c\\u200d]|\\p{Variation_Selector}';

/** Returns a result of a tool in which no tag imitates a message of a hook. All other text stays as it is. */
function withoutHookFrames(text: string): string {
  if (!/[<\uff1c\ufe64]/.test(text)) return text;
  const escaped = withoutFrames(text, OWN_FRAME);
  return escaped.includes('&lt;') ? escaped : text;
}

/** Escapes the bracket of each tag that could end or imitate a message. Models may read full-width brackets like `<`. */
function withoutFrames(text: string, frame = FRAME): string {
  const seen = text.replace(new RegExp(`(?<=[!-~])(?:${HIDDEN})+(?=[!-~])`, 'gu'), '');
  return seen.replace(/[<\uff1c\ufe64]/g, (bracket, at: number) => {
    const rest = seen.slice(at + 1, at + 1 + LONGEST_TAG).replace(new RegExp(HIDDEN, 'gu'), '');
    return frame.test(rest.normalize('NFKC')) ? '&lt;' : bracket;
  });
}

/**
 * Matches the name of a speaker with a colon at the start of a line. Punctuation around the name is allowed, as in
 * Markdown headings and bold text.
 */
const SPEAKER =
  /^([^\p{L}\p{N}\n]*)(system|user|assistant|human|developer)[^\p{L}\p{N}\n:\uff1a\ufe55]{0,10}?[ \t]*[:\uff1a\ufe55]/gimu;

/** True if the match is data and no speaker: a key of JSON, or `user`, which is a common key of YAML. */
function isData(start: string, name: string): boolean {
  return /["']$/.test(start) || name === 'user';
}

function escapeMarkup(text: string): string {
  const named = text.replaceAll('&', '&amp;');
  // Models may read full-width and small angle brackets like ASCII ones.
  return named.replace(/[<\uff1c\ufe64]/g, '&lt;').replace(/[>\uff1e\ufe65]/g, '&gt;');
}

/** Returns the effects with each message of the hook cut to its maximum length. */
export function withShortTexts(effects: HookEffects): HookEffects {
  const { modelTexts } = effects;
  const texts = (['cancel', 'stop', 'ask', 'again', 'userText'] as const).flatMap((name) => {
    const text = effects[name];
    return text === undefined ? [] : [[name, shortText(text)]];
  });
  return { ...effects, ...Object.fromEntries(texts), modelTexts: modelTexts?.map(shortText) };
}

/**
 * Escapes tags in the results of tools that imitate messages of hooks. It is the outermost lifecycle, so that no other
 * one adds such a tag later.
 */
export const frameGuard: AgentLifecycle = {
  name: 'shell-hooks:frames',
  priority: 100,
  async wrapToolCall(call, next) {
    const result = await next(call);
    const content = escaped(result.content);
    return content === result.content ? result : { ...result, content };
  },
};

/** Returns the same content if no tag imitates a message of a hook. */
function escaped(content: ToolResult['content']): ToolResult['content'] {
  if (typeof content === 'string') return withoutHookFrames(content);
  let isChanged = false;
  const parts = content.map((part) => {
    const text = part.type === 'text' ? withoutHookFrames(part.text) : undefined;
    if (part.type !== 'text' || text === undefined || text === part.text) return part;
    isChanged = true;
    return { ...part, text };
  });
  return isChanged ? parts : content;
}
