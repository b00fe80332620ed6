// Traces for the tests of the trace page.

const START = Date.UTC(2026, 10, 29, 9);

/** Returns the lines of a trace with 200 turns and 5,000 events. One call in the middle fails. */
export function largeTrace() {
  const records = [];
  let at = START;
  const add = (record) => records.push({ at, runId: 'run_1', ...record });
  add({ type: 'trace', version: 1 });
  add({ type: 'run-start', agent: 'librarian', input: 'Read all shelves.' });
  for (let turn = 1; turn <= 200; turn += 1) {
    add({ type: 'turn-start', turn });
    for (const lifecycle of ['limits', 'redact', 'notes', 'guard']) {
      add({ type: 'hook', turn, lifecycle, point: 'beforeModel', ms: 1, ownMs: 1 });
      at += 1;
    }
    add({
      type: 'decision',
      decision: { type: 'modify', by: 'notes', point: 'beforeModel', turn, before: 3, after: 4 },
    });
    add({ type: 'model-start', turn, model: 'large-2' });
    const sizes = { instructions: 900, user: 40, assistant: 60 * turn, 'tool shelf': 200 * turn };
    const usage = { inputTokens: 100 * turn, outputTokens: 40, totalTokens: 100 * turn + 40 };
    const context = { sizes, messages: 2 * turn };
    add({ type: 'model-call', turn, attempt: 1, model: 'large-2', ms: 400, context, usage, cost: 0.001 * turn });
    at += 400;
    const content = [{ type: 'text', text: `I read the shelves of row ${turn}, from left to right.` }];
    add({ type: 'model-end', turn, response: { content, usage, finishReason: 'tool-calls' } });
    for (let call = 1; call <= 5; call += 1) {
      const callId = `call_${turn}_${call}`;
      const isError = turn === 100 && call === 3;
      const result = { content: isError ? 'The shelf fell over.' : `Shelf ${turn}.${call}: twelve books.`, isError };
      add({ type: 'tool-start', turn, callId, name: 'shelf', input: { row: turn, shelf: call } });
      add({
        type: 'hook',
        turn,
        lifecycle: 'guard',
        point: 'wrapToolCall',
        ms: 1,
        ownMs: 1,
        call: { id: callId, name: 'shelf' },
      });
      at += 20;
      add({ type: 'tool-end', turn, callId, name: 'shelf', result });
    }
    add({ type: 'turn-end', turn });
  }
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  add({
    type: 'run-end',
    result: { status: 'completed', text: 'Done.', turns: 200, usage, finishReason: 'stop', pending: [] },
  });
  return linesOf(records);
}

/** Returns the lines of a trace with 20 turns. In the first turn, an agent inside pays twice, and both calls fail. */
export function growingTrace() {
  const records = [];
  const add = (record) => records.push({ at: START + records.length, ...record });
  const usage = { inputTokens: 10, outputTokens: 10, totalTokens: 20 };
  const answer = (place, text) => {
    add({ ...place, type: 'model-start', model: 'large-2' });
    const context = { sizes: { user: 40 }, messages: 1 };
    add({ ...place, type: 'model-call', attempt: 1, model: 'large-2', ms: 1, context, usage });
    add({ ...place, type: 'hook', lifecycle: 'polite', point: 'wrapModelCall', ms: 1, ownMs: 1 });
    add({ ...place, type: 'model-end', response: { content: [{ type: 'text', text }], usage, finishReason: 'stop' } });
  };
  const inside = { runId: 'run_1/1', path: ['ask'] };
  add({ type: 'trace', version: 1, runId: 'run_1' });
  add({ type: 'run-start', runId: 'run_1', agent: 'desk', input: 'Pay the bill.' });
  for (let turn = 1; turn <= 20; turn += 1) {
    const place = { runId: 'run_1', turn };
    add({ ...place, type: 'turn-start' });
    answer(place, `This is turn ${turn}. `.repeat(20 * (1 + (turn % 4))));
    if (turn === 1) {
      add({ ...place, type: 'tool-start', callId: 'ask', name: 'clerk', input: { prompt: 'Pay.' } });
      add({ ...inside, type: 'run-start', agent: 'clerk', input: 'Pay.' });
      for (const callId of ['pay_1', 'pay_2']) {
        const call = { ...inside, turn: 1, callId, name: 'pay' };
        add({ ...call, type: 'tool-start', input: { euro: 40 } });
        add({ ...call, type: 'tool-end', result: { content: 'The card was declined.', isError: true } });
      }
      add({ ...inside, type: 'run-end' });
      add({ ...place, type: 'tool-end', callId: 'ask', name: 'clerk', result: { content: 'Not paid.' } });
    }
    add({ ...place, type: 'turn-end' });
  }
  const result = { status: 'completed', text: 'Done.', turns: 20, usage, finishReason: 'stop', pending: [] };
  add({ runId: 'run_1', type: 'run-end', result });
  return records.map((record) => `${JSON.stringify(record)}\n`);
}

/** Text that tries to run, to hide, to leave and to fill the page. */
const HOSTILE = `</pre></script><script>document.title='owned'</script><img src="https://evil.example/a.png" onerror="document.title='owned'"><a href="https://evil.example/">click</a> https://evil.example/ \u0000\u0007\u001b[31m \u202egnp.exe \u2066x\u2069 `;

/** Returns the lines of a trace whose every text is hostile. One tool result has 5 MB. */
export function hostileTrace() {
  const base = { at: START, runId: 'run_1', turn: 1 };
  const name = HOSTILE;
  const content = HOSTILE + 'x'.repeat(5_000_000);
  const error = { name, message: HOSTILE, stack: HOSTILE };
  const decision = {
    type: 'modify',
    by: HOSTILE,
    point: 'wrapToolCall',
    turn: 1,
    reason: HOSTILE,
    before: HOSTILE,
    after: { HOSTILE },
  };
  return linesOf([
    { ...base, type: 'trace', version: 1 },
    { ...base, type: 'run-start', agent: HOSTILE, input: HOSTILE },
    { ...base, type: 'turn-start' },
    { ...base, type: 'model-start', model: HOSTILE },
    {
      ...base,
      type: 'model-call',
      attempt: 1,
      model: HOSTILE,
      ms: 1,
      context: { sizes: { [HOSTILE]: 5 }, messages: 1 },
      error,
    },
    {
      ...base,
      type: 'model-end',
      response: {
        content: [
          { type: 'text', text: HOSTILE },
          { type: 'reasoning', text: HOSTILE },
        ],
      },
    },
    { ...base, type: 'tool-start', callId: 'c', name, input: { HOSTILE } },
    { ...base, type: 'decision', decision },
    { ...base, type: 'tool-end', callId: 'c', name, result: { content, isError: true }, error },
    { ...base, type: HOSTILE },
    { ...base, type: 'run-error', error },
    { ...base, type: 'run-end' },
  ]);
}

function linesOf(records) {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
