import { extensionCallsOf } from './extensions.mjs';
import { callbacksOf, expectedText } from './script.mjs';

/**
 * Runs a side twice, and throws unless it did all of its work: text, tools, deltas and hooks. The second run detects
 * state leaked from the first.
 * @param {import('./script.mjs').Side} side
 * @param {import('./script.mjs').Work} work
 * @param {import('./script.mjs').Counts} counts
 */
export async function checkSide(side, work, counts) {
  for (let time = 0; time < 2; time++) {
    Object.assign(counts, { tools: 0, hooks: 0, deltas: 0 });
    const text = side.text(await side.run());
    expect('the text', text.slice(0, 100), expectedText(work).slice(0, 100));
    expect('length of the text', text.length, expectedText(work).length);
    expect('tool runs', counts.tools, work.turns * work.calls);
    expect('deltas', counts.deltas, work.deltas);
    expect('hook calls', counts.hooks, work.hooks * callbacksOf(work) + extensionCallsOf(work));
  }
}

/**
 * @param {string} what
 * @param {unknown} found
 * @param {unknown} wanted
 */
function expect(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what} must be ${JSON.stringify(wanted)}, got ${JSON.stringify(found)}`);
}
