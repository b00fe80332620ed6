import type { ModelRequest } from './model.js';

/**
 * Returns the number of characters of JSON that the model reads, by source. A source is `instructions`, `tools`, the
 * role of a message, or `tool <name>` for the results of a tool.
 */
export function contextSizes({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): Record<string, number> {
  const sizes: Record<string, number> = {};
  const add = (source: string, value: unknown) => {
    sizes[source] = (sizes[source] ?? 0) + sizeOf(value);
  };
  for (const { name, description, inputSchema } of tools) {
    for (const part of [name, description, inputSchema]) add('tools', part);
  }
  for (const message of messages) {
    if (message.role === 'tool') for (const { name, content } of message.content) add(`tool ${name}`, content);
    else add(message.role === 'system' ? 'instructions' : message.role, message.content);
  }
  return sizes;
}

/**
 * The sizes of objects that were measured before. Each request contains the earlier messages again, so that without
 * this map each turn would take longer.
 */
const known = new WeakMap<object, number>();

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  const size = known.get(value) ?? measure(value);
  known.set(value, size);
  return size;
}

function measure(value: object): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return 0;
  }
}
