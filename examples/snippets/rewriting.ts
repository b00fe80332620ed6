import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const read = defineTool({
  name: 'read',
  description: 'Reads a file.',
  input: z.looseObject({ path: z.string() }),
  execute: (input) => input,
});

// #region rewrite
const absolute: AgentLifecycle = {
  name: 'absolute',
  wrapToolCall(call, next) {
    const { path } = (call.input ?? {}) as { path?: unknown };
    if (typeof path !== 'string' || path.startsWith('/')) return next(call);
    return next({ ...call, input: { ...(call.input as object), path: `/srv/${path}` } });
  },
};
// #endregion

// #region additions
const locale: AgentLifecycle<{ readonly locale: string }> = {
  name: 'locale',
  // An argument of the model overrides an addition with the same name, so do not use additions for permissions.
  wrapToolCall: (call, next) => next({ ...call, additions: { ...call.additions, locale: call.run.context.locale } }),
};
// #endregion

const model = scriptedModel([calls('read', { path: 'a.txt' }), says('Done.')]);
const agent = new Agent<{ readonly locale: string }>({ model, tools: [read], lifecycle: [absolute, locale] });
const { decisions, messages } = await agent.run('Read a.txt.', { context: { locale: 'nb' } });
assert.deepEqual(
  decisions.map(({ type, by, before, after }) => ({ type, by, before, after })),
  [
    { type: 'modify', by: 'absolute', before: { path: 'a.txt' }, after: { path: '/srv/a.txt' } },
    {
      ...{ type: 'modify', by: 'locale', before: { name: 'read', input: { path: '/srv/a.txt' } } },
      after: { name: 'read', input: { path: '/srv/a.txt' }, additions: { locale: 'nb' } },
    },
  ],
);
assert.match(JSON.stringify(messages), /"input":\{"path":"a.txt"\}/);
assert.match(JSON.stringify(messages), /"structured":\{"path":"\/srv\/a.txt","locale":"nb"\}/);
