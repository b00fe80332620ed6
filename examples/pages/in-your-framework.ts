import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';

// This model needs no key. For a real one, import `openai` from `keelson/openai`.
export const agent = new Agent({ model: scriptedModel(() => 'The harbour opens at six.') });

/** Answers web requests. Everybody is one user here: an application reads who sends the request. */
export const chat = createAgentHandler(agent, { authorize: () => 'ada', session: (id, user) => `${user}/${id}` });

const history = await chat(new Request('http://localhost/api/chat/history?id=1'));
console.log(await history.text());
