import { Agent } from 'keelson';
import { limits, retryModelCalls, truncateToolResults } from 'keelson/lifecycles';
import { fails, scriptedModel } from 'keelson/testing';

const agent = new Agent({
  model: scriptedModel([fails('The provider is down.'), 'Aye.']),
  lifecycle: [
    retryModelCalls({ maxRetries: 3, initialDelayMs: 10, retryOn: () => true }),
    limits({ modelCalls: 50, tokens: 500_000 }),
    truncateToolResults({ maxChars: 30_000 }),
  ],
});
const { text } = await agent.run('Is the pilot on board?');
console.log(text);
