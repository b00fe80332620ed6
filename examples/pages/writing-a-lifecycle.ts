import { Agent, defineLifecycle } from 'keelson';
import { scriptedModel } from 'keelson/testing';

/** Replaces secrets in the answer of a run. */
export function redact(secrets = ['hunter2']) {
  return defineLifecycle({
    name: 'redact',
    afterAgent: (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text),
  });
}

const agent = new Agent({ model: scriptedModel(['The password is hunter2.']), lifecycle: [redact()] });
const { text } = await agent.run('What is the password?');
console.log(text);
