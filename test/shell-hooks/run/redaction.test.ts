import { defineTool } from 'keelson';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { agentWith, answers, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const SECRET = `sk/Ab+Cd&Ef'Gh==Q9xY`;
const redact = (text: string) => text.replaceAll(SECRET, '[redacted]');
// Writers of JSON in Go, .NET and Gson escape `+`, `&`, `<` and the like.
const escaped = [...SECRET].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

const outputs: readonly (readonly [string, string, object])[] = [
  ['a message', `{"systemMessage":"is ${escaped}"}`, {}],
  ['a reason', `{"continue":false,"reason":"is ${escaped}"}`, {}],
  ['arguments', `{"updatedInput":{"at":"is ${escaped}"}}`, {}],
  ['the name of an argument', `{"updatedInput":{"at":"x","${escaped}":1}}`, {}],
  ['data for later hooks', `{"data":{"deep":["is ${escaped}"]}}`, {}],
  ['JSON in a JSON string', JSON.stringify(`{"decision":"deny","reason":"is ${escaped}"}`), { dialect: 'gemini' }],
  ['an invalid field', `{"decision":"is ${escaped}"}`, { dialect: 'claude' }],
];

test.each(outputs)('a secret that JSON escapes reaches nobody: %s', async (_what, output, more) => {
  const seen: unknown[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.looseObject({ at: z.string() }),
    execute: (input) => `look ${seen.push(input)}`,
  });
  const hook = { ...answers('before_tool', output), ...more };
  const later = sh('before_tool', 'cat > later.json; echo {}', { name: 'later' });
  const hooks = hooksIn(lab, { hooks: [hook, later], redact, onNotice: (notice) => seen.push(notice) });
  const { agent, model } = agentWith(lab, hooks, { script: [calls('look', { at: 'x' }), says('ok')], tools: [look] });
  const result = await agent.run('go').catch((error: unknown) => error);
  const all = JSON.stringify([seen, result, model.requests, lab.logs, hooks.status()]);

  expect(all + (lab.has('later.json') ? lab.read('later.json') : '')).not.toContain(SECRET);
  expect(all + (lab.has('later.json') ? lab.read('later.json') : '')).toContain('[redacted]');
});
