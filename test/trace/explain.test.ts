import { explain, readTrace, trace } from 'keelson/trace';
import { expect, test } from 'vitest';
import { FAILING_RUNS } from '../support/trace/failing-runs.js';

test.each(FAILING_RUNS.map((failing) => [failing.title, failing] as const))('blames %s', async (_title, failing) => {
  const lines: string[] = [];
  await failing.run(trace({ to: (line) => lines.push(line) }));

  const [first] = explain(readTrace(lines.join('\n')));

  expect(first).toMatchObject({
    kind: failing.says.kind,
    by: failing.says.by,
    text: expect.stringMatching(failing.says.text),
  });
});
