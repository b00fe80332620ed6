import type {
  AssistantMessage,
  AssistantPart,
  Message,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from '../../model/message.js';
import { toArguments } from '../shared/answer.js';
import { acceptedName, CallIds, PLAIN_IDS } from '../shared/call-ids.js';
import { defined, isObject, textOr, type WireObject } from '../shared/wire.js';
import { toBlocks } from './content.js';
import { fieldsOf, isFrom } from './metadata.js';
import { abilitiesOf } from './models.js';

/** A conversation in the form of the Messages API. */
export interface WireConversation {
  readonly system: string;
  readonly messages: readonly WireObject[];
  /**
   * The id of the container in which server tools are unfinished or paused. The API needs it to continue these tools.
   */
  readonly container: string | undefined;
}

/**
 * Converts messages into alternating user and assistant turns. Merges consecutive messages of one role. System messages
 * at the beginning become the system prompt.
 *
 * Later system messages become `<system>` tags in a user turn, because most models refuse them. Provider metadata is
 * sent back only to the model that produced it.
 */
export function toWireConversation(messages: readonly Message[], model: string): WireConversation {
  const begin = messages.findIndex(({ role }) => role !== 'system');
  const leading = begin < 0 ? messages : messages.slice(0, begin);
  const writer = new ConversationWriter(model, messages);
  for (const message of messages.slice(leading.length)) writer.add(message);
  const system = leading.map(({ content }) => textOr(content)).filter((text) => text.trim() !== '');
  return { system: system.join('\n\n'), messages: writer.messages(), container: writer.container };
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly blocks: WireObject[];
}

class ConversationWriter {
  container: string | undefined = undefined;
  private readonly turns: Turn[] = [];
  private readonly ids = new CallIds(PLAIN_IDS);
  /** The ids of the tool calls that the provider ran. Their results are in the assistant message itself. */
  private readonly answered: ReadonlySet<string>;
  private readonly sent = new Set<string>();
  private readonly end: Message | undefined;
  /** The last message that is not a tool message. */
  private readonly last: Message | undefined;

  constructor(
    private readonly model: string,
    messages: readonly Message[],
  ) {
    const spoken = messages.filter((message) => message.role === 'assistant');
    const parts = spoken.flatMap(({ content }): readonly AssistantPart[] => content);
    this.answered = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : [])));
    this.end = messages.at(-1);
    this.last = messages.findLast(({ role }) => role !== 'tool');
  }

  add(message: Message): void {
    if (message.role === 'assistant') this.push('assistant', this.assistantBlocks(message));
    else if (message.role === 'tool') this.push('user', this.resultBlocks(message.content));
    else if (message.role === 'user') this.push('user', this.userBlocks(message));
    else if (message.content.trim() !== '') {
      this.push('user', toBlocks(`<system>\n${message.content}\n</system>`, this.model));
    }
  }

  /**
   * Returns the turns in the form that the API requires. The first turn is a user turn, tool results come first in
   * their turn, and a final assistant turn does not end with spaces.
   */
  messages(): readonly WireObject[] {
    if (this.turns[0]?.role !== 'user') this.turns.unshift({ role: 'user', blocks: [NO_MESSAGE] });
    return this.turns.map(({ role, blocks }, at) => {
      const last = blocks.at(-1);
      const results = blocks.filter(isResult);
      if (role === 'user') return { role, content: [...results, ...blocks.filter((block) => !isResult(block))] };
      if (at < this.turns.length - 1 || last?.type !== 'text') return { role, content: blocks };
      return { role, content: [...blocks.slice(0, -1), { ...last, text: textOr(last.text).trimEnd() }] };
    });
  }

  private push(role: Turn['role'], blocks: readonly WireObject[]): void {
    if (blocks.length === 0) return;
    const last = this.turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else this.turns.push({ role, blocks: [...blocks] });
  }

  /**
   * Converts a user message. If the last message is empty, a placeholder replaces it. Otherwise the conversation would
   * end with an assistant turn, which newer models refuse.
   */
  private userBlocks(message: UserMessage): readonly WireObject[] {
    const blocks = toBlocks(message.content, this.model);
    return blocks.length === 0 && message === this.end ? [NO_MESSAGE] : blocks;
  }

  /**
   * Converts an assistant message. Removes thinking blocks at its end, as an interrupted answer may have them, because
   * the API refuses them there.
   */
  private assistantBlocks(message: AssistantMessage): readonly WireObject[] {
    const blocks = message.content.flatMap((part) => this.assistantBlock(part, message === this.last));
    while (/thinking$/.test(textOr(blocks.at(-1)?.type))) blocks.pop();
    return blocks;
  }

  private assistantBlock(part: AssistantPart, isLast: boolean): readonly WireObject[] {
    if (part.type === 'text') return toBlocks([part], this.model);
    if (part.type === 'reasoning') return this.thought(part);
    if (part.type === 'tool-result') return this.serverResult(part);
    if (part.type !== 'tool-call') return [];
    return part.providerExecuted ? this.serverCall(part, isLast) : [this.call(part)];
  }

  /**
   * Converts reasoning into a thinking block. Drops thinking without a signature for Claude models, which refuse it.
   * Interrupted thinking has no signature.
   */
  private thought(part: ReasoningPart): readonly WireObject[] {
    if (!isFrom(part, this.model)) return [];
    const { block, ...fields } = fieldsOf(part, this.model);
    if (isObject(block)) return [{ ...block, ...fields }];
    const isRedacted = fields.type === 'redacted_thinking';
    if (!isRedacted && !fields.signature && abilitiesOf(this.model).isClaude) return [];
    return [isRedacted ? fields : { type: 'thinking', thinking: part.text, ...fields }];
  }

  private call(part: ToolCallPart): WireObject {
    const name = acceptedName(part.name, LONGEST_NAME);
    const block = {
      type: 'tool_use',
      id: this.ids.ofCall(part.id, isFrom(part, this.model)),
      name,
      input: toArguments(part),
    };
    return { ...block, ...fieldsOf(part, this.model) };
  }

  /**
   * Converts the call of a server tool, which Anthropic runs itself. Drops the call if another model made it. Also
   * drops a call without a result, unless it is in the last assistant message.
   */
  private serverCall(part: ToolCallPart, isLast: boolean): readonly WireObject[] {
    if (!isFrom(part, this.model) || !(isLast || this.answered.has(part.id))) return [];
    this.sent.add(part.id);
    const { id, name } = part;
    const { container, ...fields } = fieldsOf(part, this.model);
    const isUnfinished = isLast && (!this.answered.has(id) || this.end?.role === 'assistant');
    if (isUnfinished) this.container = textOr(container) || this.container;
    return [{ type: 'server_tool_use', id, name, input: toArguments(part), ...fields }];
  }

  private serverResult({ id, structured }: ToolResultPart): readonly WireObject[] {
    return this.sent.has(id) && isObject(structured) ? [structured] : [];
  }

  /**
   * Converts tool results. The API accepts only text in an error result, so images and files of an error follow after
   * it.
   */
  private resultBlocks(results: readonly ToolResultPart[]): readonly WireObject[] {
    return results.flatMap(({ id, content, isError }) => {
      const blocks = toBlocks(content, this.model);
      const inside = isError ? blocks.filter(({ type }) => type === 'text') : blocks;
      const block = defined({
        type: 'tool_result',
        tool_use_id: this.ids.ofResult(id),
        content: inside.length > 0 ? inside : [{ type: 'text', text: '(no output)' }],
        is_error: isError ? true : undefined,
      });
      return [block, ...blocks.filter((each) => !inside.includes(each))];
    });
  }
}

const LONGEST_NAME = 128;

const NO_MESSAGE = { type: 'text', text: '(no message)' };

function isResult({ type }: WireObject): boolean {
  return type === 'tool_result';
}
