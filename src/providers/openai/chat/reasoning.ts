import { objectsIn, textOr, type WireObject } from '../../shared/wire.js';
import { contentText } from './completion.js';
import { thinkingContent } from './content.js';
import { splitThought, type ThoughtPosition } from './thoughts.js';

/** The reasoning of a message, and the message field that contains it. */
export interface WireReasoning {
  readonly text: string;
  /**
   * The message field that contained the reasoning, and in which it must be sent back. Undefined if the reasoning is
   * not sent back in a field of its own.
   */
  readonly field?: string | undefined;
}

const FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'];

/**
 * The fields in which some servers send arrays of signed reasoning blocks: `reasoning_details` for OpenRouter and
 * MiniMax, `thinking_blocks` for LiteLLM.
 */
const BLOCKS = ['reasoning_details', 'thinking_blocks'];
const BLOCK_TEXTS = ['text', 'summary', 'thinking'];

const REASONING_NAMES = [...FIELDS, ...BLOCKS, 'extra_content'];

/** The field in which an assembled message stores reasoning that no request may contain. */
const UNSENT = 'thought';

/**
 * Returns the reasoning of a message. Servers use different fields, and some send the same text in two fields. Mistral,
 * Gemini and Databricks put reasoning into `content`. MiniMax sends only reasoning blocks.
 */
export function reasoningIn(message: WireObject, position: ThoughtPosition): WireReasoning | undefined {
  const fields = FIELDS.filter((name) => typeof message[name] === 'string');
  const field = fields.find((name) => message[name] !== '');
  if (field !== undefined) return { field, text: textOr(message[field]) };
  const thoughts = objectsIn(message.content).map(({ thinking }) => contentText(thinking));
  if (thoughts.some(Boolean)) return { field: 'content', text: thoughts.join('') };
  const listed = [...Object.values(blocksIn(message)).flat(), ...summariesIn(message)];
  const blocks = listed.map(blockText).join('');
  const text = blocks || textOr(message[UNSENT]) || splitThought(message, position).thought;
  if (text !== '') return { text };
  return fields[0] === undefined ? undefined : { field: fields[0], text: '' };
}

/** Returns the arrays of reasoning blocks that are not empty. They must be sent back unchanged. */
export function blocksIn(message: WireObject): { readonly [name: string]: readonly WireObject[] } {
  const lists = BLOCKS.map((name) => [name, objectsIn(message[name])] as const);
  return Object.fromEntries(lists.filter(([, list]) => list.length > 0));
}

function summariesIn({ content }: WireObject): readonly WireObject[] {
  return objectsIn(content).flatMap(({ type, summary }) => (type === 'reasoning' ? objectsIn(summary) : []));
}

/** Assembles the reasoning of a message from the deltas of a stream. */
export class ReasoningFragments {
  private readonly blocks: Record<string, WireObject[]> = {};
  private found: WireReasoning | undefined = undefined;

  /** Adds a delta, or a whole message. Returns the reasoning text that it contains. */
  add(delta: WireObject, position: ThoughtPosition): string {
    if (isPlain(delta)) return '';
    for (const [name, blocks] of Object.entries(blocksIn(delta))) {
      this.blocks[name] ??= [];
      for (const block of blocks) addBlock(this.blocks[name], block);
    }
    const found = reasoningIn(delta, position);
    if (!found) return '';
    const before = this.found;
    this.found = before?.text ? { field: before.field ?? found.field, text: before.text + found.text } : found;
    return found.text;
  }

  /** Returns the fields of the assembled message that contain reasoning. `content` is the text of the answer. */
  fields(content: string): WireObject {
    if (!this.found) return this.blocks;
    const { field = UNSENT, text } = this.found;
    return { ...this.blocks, [field]: field === 'content' ? thinkingContent(text, content) : text };
  }
}

/** True for a delta that contains only text. Most deltas are such, so this check saves time. */
function isPlain(delta: WireObject): boolean {
  return typeof delta.content === 'string' && REASONING_NAMES.every((name) => delta[name] === undefined);
}

function blockText(block: WireObject): string {
  return BLOCK_TEXTS.map((name) => textOr(block[name])).join('');
}

/**
 * Adds a fragment of a reasoning block to the block that it belongs to, because only complete blocks can be sent back.
 */
function addBlock(blocks: WireObject[], block: WireObject): void {
  const last = blocks.at(-1);
  if (last === undefined || beginsBlock(block, last)) {
    blocks.push(block);
    return;
  }
  const known = Object.entries(block).filter(([, value]) => value !== null && value !== undefined);
  const whole: Record<string, unknown> = { ...last, ...Object.fromEntries(known) };
  for (const name of BLOCK_TEXTS) {
    if (name in last || name in block) whole[name] = textOr(last[name]) + textOr(block[name]);
  }
  blocks[blocks.length - 1] = whole;
}

/** True if a fragment begins a new reasoning block. A signature is the last fragment of a block. */
function beginsBlock(block: WireObject, last: WireObject): boolean {
  const isElsewhere = last.type !== block.type || last.index !== block.index;
  return isElsewhere || 'data' in block || Boolean(last.signature && blockText(block));
}
