import { Agent, KeelsonError, RunError } from 'keelson';
import { fails, scriptedModel } from 'keelson/testing';

const agent = new Agent({ model: scriptedModel([fails('The provider is down.')]) });
try {
  await agent.run('Hello');
} catch (error) {
  if (!(error instanceof KeelsonError)) throw error;
  console.log(error.code, error.message);
  // A RunError has the conversation in `history`, so another run can continue it.
  if (error instanceof RunError) console.log(error.history.length, 'messages are kept');
}
