import { runTool, textOf } from './floor.mjs';

/**
 * The hand-written loop with the same hooks at the same six points. Awaits each hook, since a hook may be asynchronous,
 * and uses the returned value.
 * @param {import('./floor.mjs').Floor} floor
 * @param {string} prompt
 */
export async function runWithHooks({ model, tools, hooks }, prompt) {
  const run = /** @type {never} */ ({});
  let input = prompt;
  for (const hook of hooks) input = orElse(await hook.beforeAgent(input, run), input);
  /** @type {readonly import('keelson').Message[]} */
  let messages = [{ role: 'user', content: input }];
  while (true) {
    for (const hook of hooks) messages = orElse(await hook.beforeModel(/** @type {never} */ (messages), run), messages);
    const response = await callModel({ model, tools, hooks }, 0, /** @type {never} */ ({ messages, tools: [], model }));
    for (const hook of hooks) await hook.afterModel(response, run);
    const { content } = response;
    const calls = content.filter((part) => part.type === 'tool-call');
    if (calls.length === 0) {
      let text = textOf(content);
      for (const hook of hooks) text = orElse(await hook.afterAgent(text, run), text);
      return text;
    }
    const results = await Promise.all(calls.map((call) => callTool({ model, tools, hooks }, 0, call)));
    messages = append(messages, { role: 'assistant', content }, { role: 'tool', content: results });
  }
}

/**
 * @template T
 * @param {unknown} value
 * @param {T} fallback
 * @returns {T}
 */
function orElse(value, fallback) {
  return value === undefined ? fallback : /** @type {T} */ (value);
}

/**
 * @param {readonly import('keelson').Message[]} messages
 * @param {import('keelson').Message[]} added
 */
function append(messages, ...added) {
  /** @type {import('keelson').Message[]} */ (messages).push(...added);
  return messages;
}

/**
 * @param {import('./floor.mjs').Floor} floor
 * @param {number} index
 * @param {import('keelson').ModelCallRequest} request
 * @returns {Promise<import('keelson').ModelResponse>}
 */
async function callModel(floor, index, request) {
  const hook = floor.hooks[index];
  if (hook === undefined) return floor.model.generate(request);
  return hook.wrapModelCall(request, (inner) => callModel(floor, index + 1, inner ?? request));
}

/**
 * @param {import('./floor.mjs').Floor} floor
 * @param {number} index
 * @param {import('keelson').ToolCallPart} call
 * @returns {Promise<import('keelson').ToolResultPart>}
 */
async function callTool(floor, index, call) {
  const hook = floor.hooks[index];
  if (hook === undefined) return runTool(floor.tools, call);
  const next = (inner = call) => callTool(floor, index + 1, inner);
  return /** @type {Promise<never>} */ (hook.wrapToolCall(/** @type {never} */ (call), /** @type {never} */ (next)));
}
