import { Agent, textOf } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';

// This model needs no key. With the argument `crash`, it ends the process as `kill -9` does.
const model = scriptedModel(({ messages }) => {
  if (process.argv.includes('crash')) process.kill(process.pid, 'SIGKILL');
  return `I have read ${messages.length} message.`;
});

const store = new FileSessionStore({ folder: './sessions' });
// After a crash, the next run waits for this time at most. The default is 30 seconds.
const agent = new Agent({ model, store, timeouts: { claimMs: 2_000 } });

const session = await agent.session({ id: 'harbour' });
for (const message of session.messages) console.log(`${message.role}: ${textOf(message)}`);

// A question with the same id is the same question: it is stored once and answered once.
const { text } = await session.run('Where are we?', { id: 'question-1' });
console.log(text);
await agent.close();
