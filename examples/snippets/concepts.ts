// The code in docs/concepts.md.
import assert from 'node:assert/strict';
import { commandContext, conceptAugmentation, conceptModule } from 'keelson/concepts';

// #region command
const concepts = conceptAugmentation({
  buildContext: commandContext({
    command: 'atlas',
    args: ({ conceptName, maxEntities }) => ['show', `--limit=${maxEntities}`, '--', conceptName],
  }),
  timeouts: { conceptMs: 500, totalMs: 2_000 },
});
// #endregion

// #region module
const Concepts = conceptModule();
// #endregion

assert.equal(concepts.priority, 45);
const hooks = await Concepts({ client: { app: { log() {} } } });
assert.deepEqual(Object.keys(hooks), ['tool.execute.before']);
