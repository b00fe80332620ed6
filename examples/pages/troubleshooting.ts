import { Agent, KeelsonError, RunError } from 'keelson';
import { fails, scriptedModel } from 'keelson/testing';

const agent = new Agent({ model: scriptedModel([fails('The provider is down.')]) });
try {
  await agent.run('Hello');
} catch (error) {
  if (!(error instanceof KeelsonError)) throw error;
  console.log(error.code, error.message);
  // An error of a run has the conversation, so another run can continue from it.
  if (error instanceof RunError) console.log(error.history.length, 'messages are kept');
}
