import { Agent, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

// Without `execute`, the caller of the agent runs the tool.
const askColour = defineTool({
  name: 'askColour',
  description: 'Shows three shades, and asks the person to choose one.',
  input: z.object({ shades: z.array(z.string()).length(3) }),
});
const model = scriptedModel([calls('askColour', { shades: ['ruby', 'rust', 'rose'] }), says('Rust it is.')]);
const agent = new Agent({ model, tools: [askColour] });

let result = await agent.run('Which red suits the boat?');
for (const { id, name, input } of result.pending) {
  console.log(name, input);
  result = await agent.run('', { messages: result.history, resume: { [id]: { result: 'rust' } } });
}
console.log(result.text);
