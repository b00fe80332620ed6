/**
 * The work of both sides.
 * @typedef {object} Work
 * @property {number} turns model turns that call tools before the answer
 * @property {number} calls tool calls in each such turn
 * @property {number} deltas text parts of a streamed answer; 0: not streamed
 * @property {boolean} paced true if each part comes in its own tick of the event loop
 * @property {number} hooks lifecycles with all six hooks
 * @property {'sync' | 'async'} style kind of these hooks
 * @property {number} [extensions] extensions in a registry of the agent; absent: no registry
 * @property {'additions' | 'callbacks' | 'inputs'} [extensionKind] kind of callback of each extension
 * @property {number} [history] messages before the prompt; default 0
 * @property {number} [pictureBytes] bytes of a picture in the first of these messages; default 0
 * @property {'inside' | 'beside'} [nested] a second agent, which runs inside of each tool call, or before the run
 * @property {number} burnMs time for which each lifecycle blocks the process per run, as a control
 * @property {number} delayMs delay of the model before it answers, by a timer
 * @property {number} exactMs delay by polling the clock, since the error of a timer exceeds the measured difference
 *
 * Counters of the work that a side did, for the check.
 * @typedef {object} Counts
 * @property {number} tools
 * @property {number} hooks
 * @property {number} deltas
 *
 * A side of the comparison.
 * @typedef {object} Side
 * @property {() => unknown} construct
 * @property {() => Promise<unknown>} run
 * @property {(result: unknown) => string} text returns the final text of a result of `run`
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

// Created once, so that the fake model costs the same on both sides.
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
 * The stateless fake model of both sides. Derives the turn from the number of messages.
 * Builds the answer from the last tool result, so that a lost or misplaced message gives a wrong text.
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
      const turn = (messages.length - 1 - (work.history ?? 0)) / 2;
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
 * Yields the parts of a streamed answer, as a provider's client does.
 * @param {Work} work
 * @returns {AsyncGenerator<import('keelson').ModelPart>}
 */
export async function* streamParts({ deltas }) {
  for (let index = 0; index < deltas; index++) yield { type: 'text-delta', text: DELTA };
}

/**
 * Returns the messages before the prompt, or undefined. Created once, as an application keeps its messages.
 * @param {Work} work
 * @returns {import('keelson').Message[] | undefined}
 */
export function historyOf({ history = 0, pictureBytes = 0 }) {
  if (history === 0) return undefined;
  const image = new Uint8Array(pictureBytes);
  return Array.from({ length: history }, (_, index) => {
    if (index === 0 && pictureBytes > 0) {
      return { role: 'user', content: [{ type: 'image', image, mediaType: 'image/png' }] };
    }
    return { role: 'user', content: `message ${index}` };
  });
}

/** @param {Work} work */
export function expectedText({ turns, calls, deltas }) {
  if (deltas > 0) return DELTA.repeat(deltas);
  return `The answer is ${turns === 0 ? 'hello' : turns + calls}`;
}

/**
 * Returns the number of hook calls of one lifecycle in one run: two per run, three per model call, one per tool call.
 * @param {Pick<Work, 'turns' | 'calls'>} work
 */
export function callbacksOf({ turns, calls }) {
  return 2 + 3 * (turns + 1) + turns * calls;
}
