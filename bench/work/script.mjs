/**
 * What both sides have to do.
 * @typedef {object} Work
 * @property {number} turns model turns that call tools before the answer
 * @property {number} calls tool calls in each such turn
 * @property {number} deltas text parts of a streamed answer; 0: not streamed
 * @property {boolean} paced whether each part comes in a tick of its own
 * @property {number} hooks parts with all six hooks
 * @property {'sync' | 'async'} style what their hooks are
 * @property {number} [extensions] extensions in a registry of the agent; absent: no registry
 * @property {'additions' | 'callbacks'} [extensionKind] what each of them has
 * @property {number} burnMs how long each of these parts blocks the process per run: a control
 * @property {number} delayMs how long the model waits before it answers, by a timer
 * @property {number} exactMs the same, by polling the clock: a timer's own error is larger than what is looked for
 *
 * What a side was seen to do, for the check.
 * @typedef {object} Counts
 * @property {number} tools
 * @property {number} hooks
 * @property {number} deltas
 *
 * A side that is ready to be measured.
 * @typedef {object} Side
 * @property {() => unknown} construct
 * @property {() => Promise<unknown>} run
 * @property {(result: unknown) => string} text the final text of what `run` gave
 */

/** @type {Work} */
export const ANSWER = {
  turns: 0,
  calls: 0,
  deltas: 0,
  paced: false,
  hooks: 0,
  style: 'sync',
  burnMs: 0,
  delayMs: 0,
  exactMs: 0,
};

export const PROMPT = 'please add the numbers';
export const DELTA = 'tok ';
export const TOOL = { name: 'add', description: 'Adds two numbers.' };

// Made once, so that the fake model costs the same little on both sides.
const MOST_TURNS = 200;
const MOST_CALLS = 8;
const SCRIPT = Array.from({ length: MOST_TURNS }, (_, turn) =>
  Array.from({ length: MOST_CALLS }, (_, index) => ({
    id: `call_${turn}_${index}`,
    json: `{"a":${turn + 1},"b":${index + 1}}`,
  })),
);
const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/**
 * The fake model of both sides. It keeps no state: it knows the turn by the number of messages, and builds the answer
 * from the last tool result that it is shown, so that a lost or misplaced message gives a wrong text.
 * @param {Work} work
 * @returns {import('keelson').Model}
 */
export function fakeModel(work) {
  const whole = DELTA.repeat(work.deltas);
  return {
    id: 'fake',
    async generate({ messages, onPart }) {
      if (work.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, work.delayMs));
      if (work.exactMs > 0) await waitExactly(work.exactMs);
      const turn = (messages.length - 1) / 2;
      if (turn < work.turns) return { content: callsOf(work, turn), finishReason: 'tool-calls', usage: USAGE };
      if (onPart !== undefined && work.deltas > 0) await pushParts(work, onPart);
      const text = work.deltas > 0 ? whole : answerTo(work, messages);
      return { content: [{ type: 'text', text }], finishReason: 'stop', usage: USAGE };
    },
  };
}

/** @param {number} ms */
async function waitExactly(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * @param {Work} work
 * @param {number} turn
 */
function callsOf(work, turn) {
  const { name } = TOOL;
  /** @type {import('keelson').ToolCallPart[]} */
  const calls = [];
  const script = SCRIPT[turn] ?? [];
  for (let index = 0; index < work.calls; index++) {
    const call = script[index];
    if (call !== undefined) calls.push({ type: 'tool-call', id: call.id, name, input: JSON.parse(call.json) });
  }
  return calls;
}

/**
 * @param {Work} work
 * @param {readonly import('keelson').Message[]} messages
 */
function answerTo(work, messages) {
  if (work.turns === 0) return 'The answer is hello';
  const last = /** @type {import('keelson').ToolMessage} */ (messages[messages.length - 1]);
  return `The answer is ${last.content[last.content.length - 1]?.content}`;
}

/**
 * @param {Work} work
 * @param {(part: import('keelson').ModelPart) => void} onPart
 */
async function pushParts(work, onPart) {
  if (work.paced) for await (const part of streamParts(work)) onPart(part);
  else for (let index = 0; index < work.deltas; index++) onPart({ type: 'text-delta', text: DELTA });
}

/**
 * The parts of a streamed answer, as a client of a provider hands them out.
 * @param {Work} work
 * @returns {AsyncGenerator<import('keelson').ModelPart>}
 */
export async function* streamParts({ deltas }) {
  for (let index = 0; index < deltas; index++) yield { type: 'text-delta', text: DELTA };
}

/** @param {Work} work */
export function expectedText({ turns, calls, deltas }) {
  if (deltas > 0) return DELTA.repeat(deltas);
  return `The answer is ${turns === 0 ? 'hello' : turns + calls}`;
}

/**
 * How often the hooks of one part are called in one run: the two around the run, three a model call, one a tool call.
 * @param {Pick<Work, 'turns' | 'calls'>} work
 */
export function callbacksOf({ turns, calls }) {
  return 2 + 3 * (turns + 1) + turns * calls;
}
