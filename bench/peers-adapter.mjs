import { Agent, defineTool } from 'keelson';
import { z } from 'zod';

const PROMPT = 'please add the numbers';
const DELTA = 'tok ';
const MOST_TURNS = 200;
const MOST_CALLS = 8;
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
// Created once, so that the fake model costs nothing.
const CALLS = Array.from({ length: MOST_TURNS }, (_, turn) =>
  Array.from({ length: MOST_CALLS }, (_, k) => ({ id: `call_${turn}_${k}`, json: `{"a":${turn + 1},"b":${k + 1}}` })),
);
const schema = z.object({ a: z.number(), b: z.number() });

/**
 * @typedef {{ turns: number, calls: number, hooks: number, stream?: boolean, deltas?: number, delayMs?: number }} Spec
 * @typedef {{ onTool(): void, onHook(): void, deltas?: number }} Context
 */

/**
 * @param {number} turn
 * @param {number} calls
 * @returns {import('keelson').ModelResponse}
 */
function callTools(turn, calls) {
  /** @type {import('keelson').ToolCallPart[]} */
  const content = [];
  const script = CALLS[turn] ?? [];
  for (let k = 0; k < calls; k++) {
    const call = script[k];
    if (call !== undefined) content.push({ type: 'tool-call', id: call.id, name: 'add', input: JSON.parse(call.json) });
  }
  return { content, finishReason: 'tool-calls', usage };
}

/**
 * @param {string} text
 * @returns {import('keelson').ModelResponse}
 */
function answer(text) {
  return { content: [{ type: 'text', text }], finishReason: 'stop', usage };
}

/** @param {readonly import('keelson').Message[]} messages */
function lastResult(messages) {
  const last = messages[messages.length - 1];
  return last?.role === 'tool' ? last.content[last.content.length - 1]?.content : 'hello';
}

/**
 * Derives the turn from the length of the history: one user message, then two messages per turn.
 * @param {Spec} spec
 * @returns {import('keelson').Model}
 */
function fakeModel({ turns, calls, deltas = 0, delayMs }) {
  const whole = DELTA.repeat(deltas);
  return {
    id: 'fake',
    async generate({ messages, onPart }) {
      if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs));
      const turn = (messages.length - 1) / 2;
      if (turn < turns) return callTools(turn, calls);
      for (let i = 0; i < deltas; i++) onPart?.({ type: 'text-delta', text: DELTA });
      return answer(deltas > 0 ? whole : `The answer is ${lastResult(messages)}`);
    },
  };
}

/**
 * @param {Context} ctx
 * @returns {import('keelson').AgentLifecycle}
 */
function noops(ctx) {
  const seen = async () => ctx.onHook();
  return {
    beforeAgent: seen,
    beforeModel: seen,
    async wrapModelCall(request, next) {
      ctx.onHook();
      return next(request);
    },
    afterModel: seen,
    async wrapToolCall(call, next) {
      ctx.onHook();
      return next(call);
    },
    afterAgent: seen,
  };
}

/** @param {import('keelson').RunResult} result */
const textOf = ({ text }) => text;

/**
 * @param {Agent} agent
 * @param {Context} ctx
 */
async function readText(agent, ctx) {
  let text = '';
  let deltas = 0;
  for await (const event of agent.stream(PROMPT)) {
    if (event.type !== 'text-delta') continue;
    text += event.text;
    deltas++;
  }
  ctx.deltas = deltas;
  return text;
}

// biome-ignore lint/style/noDefaultExport: the external benchmark requires a default export.
export default {
  label: 'keelson',
  pkg: 'keelson',
  hookNotes: 'one AgentLifecycle with asynchronous no-ops at all six points',
  /**
   * @param {Spec} spec
   * @param {Context} ctx
   */
  create(spec, ctx) {
    const model = fakeModel(spec);
    const add = defineTool({
      name: 'add',
      description: 'Adds two numbers.',
      input: schema,
      async execute({ a, b }) {
        ctx.onTool();
        return String(a + b);
      },
    });
    const construct = () => {
      const lifecycle = Array.from({ length: spec.hooks }, () => noops(ctx));
      return new Agent({ model, tools: [add], lifecycle, maxTurns: MOST_TURNS + 1 });
    };
    const agent = construct();
    return { construct, run: spec.stream ? () => readText(agent, ctx) : () => agent.run(PROMPT).then(textOf) };
  },
};
