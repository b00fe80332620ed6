import { Agent, defineLifecycle } from 'keelson';
import { defineExtension, extensions } from 'keelson/extension';
import { scriptedModel } from 'keelson/testing';

// Implements one rule twice: as a lifecycle, and as a callback extension.
const lifecycle = defineLifecycle({ name: 'redact', afterAgent: (text) => text.replaceAll('hunter2', '***') });
const extension = defineExtension({ id: 'redact', onPlainText: (text) => text.replaceAll('hunter2', '***') });

const model = scriptedModel(() => 'The secret is hunter2.');
const first = new Agent({ model, lifecycle: [lifecycle] });
const second = new Agent({ model, loaders: [extensions([extension])] });
for (const agent of [first, second]) console.log((await agent.run('Well?')).text);
