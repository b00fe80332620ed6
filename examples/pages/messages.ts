import { Agent, defineTool, textOf } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const describe = defineTool({
  name: 'describe',
  description: 'Describes a picture.',
  input: z.object({ detail: z.enum(['low', 'high']) }),
  execute: () => ({ ships: 3, berths: ['north', 'south'] }),
});
const model = scriptedModel([calls('describe', { detail: 'low' }), says('Three ships.', { reasoning: 'Count them.' })]);
const agent = new Agent({ model, tools: [describe] });

const { history } = await agent.run({
  role: 'user',
  content: [
    { type: 'text', text: 'How many ships?' },
    { type: 'image', image: 'iVBORw0KGgo=', mediaType: 'image/png' },
  ],
});
for (const message of history) console.log(message.role, textOf(message), message.content);
