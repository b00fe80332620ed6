// The code in docs/plugins.md.
import assert from 'node:assert/strict';
import { Agent } from 'keelson';
import { createHookManager, createToolRegistry, definePlugin, plugins } from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';

// #region hooks
const guard = definePlugin({
  name: 'guard',
  hooks: {
    beforeMessage: (message) => message.trim(),
    beforeToolExecute: (name, input) => (name === 'erase' ? null : { name, input }),
    afterToolExecute: (_name, _input, result) => ({ ...result, content: result.content.replaceAll('hunter2', '***') }),
  },
});
// #endregion

const tool = (name: string) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  execute: () => ({ content: 'the password is hunter2' }),
});

// #region registry
const hooks = createHookManager();
hooks.register(guard);

const registry = createToolRegistry(hooks);
registry.register(tool('read'));
const { content } = await registry.execute('read', {});
// #endregion
assert.equal(content, 'the password is ***');

// #region context
const planner = definePlugin({
  name: 'planner',
  hooks: {
    async onInit({ config, options, hostConfig, toolRegistry }) {
      console.log(`${config.plugins.length} plugins, for ${hostConfig?.tenant}, ${JSON.stringify(options)}`);
      toolRegistry.register({
        name: 'plan',
        description: 'Returns the plan.',
        inputSchema: { type: 'object' },
        execute: () => toolRegistry.execute('read', {}),
      });
    },
  },
});
// #endregion
await planner.hooks?.onInit?.({ config: { plugins: [] }, hostConfig: { tenant: 'acme' }, toolRegistry: registry });
assert.equal((await registry.execute('plan', {})).content, 'the password is ***');

const model = scriptedModel([calls('erase'), says('done')]);
// #region lifecycles
const agent = new Agent({ model, loaders: [hooks] });
// #endregion
await agent.run(' go ');
assert.deepEqual(model.requests[0]?.messages, [{ role: 'user', content: 'go' }]);

// #region found
const found = plugins({ appName: 'harbour', workspaceDir: '/srv/harbour' });
// #endregion
assert.equal(found.name, 'plugins');
