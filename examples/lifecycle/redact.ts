import { type AgentLifecycle, HookAction } from 'keelson';

/** Hides secrets in the texts of the model, before they are shown and stored. */
export function redact(secrets: readonly string[]): AgentLifecycle {
  const clean = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return {
    name: 'redact',
    // Streams show a text after `afterModel`.
    holdStream: true,
    // If this lifecycle fails, nothing is shown.
    onFailure: 'block',
    afterModel(response) {
      const content = response.content.map((part) =>
        part.type === 'text' ? { ...part, text: clean(part.text) } : part,
      );
      return HookAction.modify({ ...response, content });
    },
  };
}
