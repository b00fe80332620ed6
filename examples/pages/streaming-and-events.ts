import { Agent, formatRun } from 'keelson';
import { says, scriptedModel } from 'keelson/testing';

const agent = new Agent({ model: scriptedModel(says('Land in sight.', { reasoning: 'A coast.' })) });

const stream = agent.stream('What do you see?');
for await (const text of stream.text) process.stdout.write(text);

const result = await stream.result;
console.log(`\n${formatRun(result)}`);
